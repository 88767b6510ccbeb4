// Package commits is the part of git that pull requests need: commits with their files and
// parents, merge bases, and three-way merges by whole files. It refuses to know branches,
// repositories and requests; it tells repositories that share no commits apart by the number
// of their network only. Start at [History].
package commits
