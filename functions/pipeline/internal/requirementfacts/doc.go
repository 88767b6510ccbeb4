// Package requirementfacts reads the facts on which the requirements of a repository depend. It reads only
// those that package requirementrules needs, each once for a pull request.
//
// If GitHub refuses to return a fact until a person fixes something, the fact is unknown, with the reason: the
// gate refuses, and people read why. A temporary failure is an error, and the message is tried once more. If a
// decision is only shown to people, such a failure also makes the fact unknown ([Finder.Lenient]). Everything
// that grants rights, such as CODEOWNERS, is read at the tip of the base branch.
//
// The package does not decide. Start reading at [Finder.Find].
package requirementfacts
