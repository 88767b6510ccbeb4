// Package comment is the conversation on a pull request: the commands of people, and the words of
// Lockstep.
//
// Commands are lines of a comment in a closed grammar ([Parse]):
//
//	lockstep plan|apply|unlock|help [HASH] [-p NAME] [-d DIR] [-w WORKSPACE]
//
// Only apply takes a HASH, which selects one plan. There is no shell, no quoting and no other
// option: a line becomes a [Command] whose names match one pattern, or a problem with a suggestion.
//
// The words of Lockstep are Markdown made of values ([Status], [Answer]). All text of others goes
// through [Code] or [Fence]: inside code nobody is notified, nothing is a link, and no markup ends
// ours.
//
// The package is pure. It refuses to know GitHub's API, runs, and the rules by which a command is
// carried out. Start at [Parse] and [Status.Markdown].
package comment
