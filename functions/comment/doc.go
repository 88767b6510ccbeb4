// Package comment is the words of Lockstep on a pull request: answers to commands, which package
// grammar reads, the status, and the pages of check runs.
//
// They are Markdown made of values ([Status], [Answer]). All text of others goes
// through [Code] or [Fence]: inside code nobody is notified, nothing is a link, and no markup ends
// ours.
//
// The package is pure. It refuses to know GitHub's API, runs, and the rules by which a command is
// carried out. Start at [Answer.Markdown] and [Status.Markdown].
package comment
