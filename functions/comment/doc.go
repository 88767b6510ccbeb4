// Package comment writes the texts of Lockstep on a pull request: answers to commands, the status comment, and
// the pages of check runs. Package grammar reads the commands.
//
// The texts are Markdown, made from values ([Status], [Answer]). All text of other people is written as code,
// with package markdown. Inside code GitHub notifies nobody and makes no links, and no markup can end ours.
//
// The package is pure. It does not know GitHub's API, runs, and the rules by which a command is carried out.
// Start reading at [Answer.Markdown] and [Status.Markdown].
package comment
