// Package comment writes all of Lockstep's texts on a pull request: answers to commands, the status comment,
// and the pages of check runs. Package grammar reads the commands.
//
// The texts are Markdown, made from values ([Status], [Answer]). Text that other people wrote appears as code,
// with package markdown. Inside code GitHub notifies nobody and makes no links. No markup in such a text can
// end the code.
//
// The package is pure. It does not know GitHub's API, runs, or the rules by which a command is carried out.
// Start reading at [Answer.Markdown] and [Status.Markdown].
package comment
