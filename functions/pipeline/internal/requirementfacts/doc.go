// Package requirementfacts reads from GitHub the facts that the requirements of a repository are about: only
// those that package requirementrules needs, each once for a pull request.
//
// A fact that GitHub refuses for good is unknown, with the reason: the gate stays closed, and people
// read why. A failure that passes is an error, so that the message is tried again; where nothing is
// decided, but people are only shown a decision, it is an unknown fact, too ([Finder.Lenient]).
// All grants are read at the tip of the base branch: CODEOWNERS, above all.
//
// The package refuses to decide. Start at [Finder.Find].
package requirementfacts
