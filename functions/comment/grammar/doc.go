// Package grammar parses commands: the lines of a comment that are addressed to Lockstep.
//
//	lockstep VERB [ARGUMENT...] [-p NAME] [-d DIR] [-w WORKSPACE] [--failed] [OPTION...]
//
// A line becomes a [Command], or a [Problem] with a suggestion. Each part of a command has passed a check.
// There is no shell: quotes only keep words together, and nothing is expanded. Words that are not in a table of
// this package are not understood.
//
// A plain and harmless slip is accepted: "Lockstep Plan.", --project=net, a name in quotes. Any other slip gets
// an answer with a suggestion. The suggestion never selects more than the line did. If a word cannot be
// repaired, and may limit the command, the only suggestion is "lockstep help".
//
// Lines for other programs (atlantis, digger, terraform, tofu) are parsed with the same tables. Their problem
// is [Foreign]. Package dispatch carries them out if the settings of the base branch say so.
//
// People also write sentences about these programs and about Lockstep. A line is a sentence, and not a command,
// if the word after the name resembles no verb, or if words follow that no command has.
//
// A command that is marked as code, as a list item or with quotes is not carried out, because people write
// about commands in this way. But if a comment contains nothing else, it gets an answer that says so.
//
// The package is pure. It does not know projects, runs, or the texts about problems. Start reading at [Parse];
// verbs.go and options.go are the tables.
package grammar
