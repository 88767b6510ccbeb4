// Package requirementfacts reads the facts that the requirements of a repository ask about. It reads only those
// that package requirementrules needs, each once for a pull request.
//
// If GitHub refuses a fact until a person fixes something, the fact is unknown, with the reason: the gate
// refuses, and people read why. A temporary failure is an error, so the message is tried again. If a decision
// is only shown to people, such a failure is an unknown fact, too ([Finder.Lenient]). All grants, such as
// CODEOWNERS, are read at the tip of the base branch.
//
// This package does not decide. Start reading at [Finder.Find].
package requirementfacts
