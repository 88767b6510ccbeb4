// Package requirementfacts reads the facts that the requirements of a repository ask about. It reads only those
// that package requirementrules needs, each once for a pull request.
//
// If GitHub refuses a fact for good, the fact is unknown, with the reason: the gate stays closed, and people
// read why. A failure that passes is an error, so the message is tried again. If a decision is only shown to
// people, such a failure is an unknown fact, too ([Finder.Lenient]). All grants are read at the tip of the base
// branch, above all CODEOWNERS.
//
// This package refuses to decide. Start reading at [Finder.Find].
package requirementfacts
