// Package comment is the conversation on a pull request: what people may say to
// Lockstep, and how Lockstep says things.
//
// Commands are lines of a comment in a closed grammar ([Parse]):
//
//	lockstep plan|apply|unlock|help [HASH] [-p NAME] [-d DIR] [-w WORKSPACE]
//
// HASH is an apply's, and names the plan that it is of. There is no shell, no quoting and
// no other option: what comes out is a [Command] whose names match one pattern, or a
// problem with a suggestion.
//
// What Lockstep says is Markdown made of values ([Status], [Answer]). All text that
// comes from elsewhere goes through [Code] or [Fence]: in code nobody is mentioned,
// nothing is a link, and no markup ends what we began.
//
// The package is pure. It refuses to know GitHub's API, runs, and whether a command
// may be carried out. Start at [Parse] and [Status.Markdown].
package comment
