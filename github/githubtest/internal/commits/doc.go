// Package commits is the part of git that pull requests need: commits with their files and parents, merge
// bases, and three-way merges of whole files. It does not know branches, repositories and requests.
// Repositories that share no commits differ only in the number of their network. Start at [History].
package commits
