// Package grammar parses commands: the lines of a comment that are addressed to Lockstep.
//
//	lockstep VERB [ARGUMENT...] [-p NAME] [-d DIR] [-w WORKSPACE] [--failed] [OPTION...]
//
// A line becomes a [Command], or a [Problem] with a suggestion. Each part of a command has passed a check.
// There is no shell: quotes only keep words together, and nothing is expanded. Words that are not in a table
// here are not understood. A plain and harmless slip is accepted: "Lockstep Plan.", --project=net, a name in
// quotes. Any other slip gets an answer with a suggestion, and the suggestion never selects more than the line
// did. If a word that may limit the command cannot be repaired, the suggestion is only "lockstep help".
//
// Lines for other programs (atlantis, digger, terraform, tofu) are parsed with the same tables. Their problem
// is [Foreign], and package dispatch carries them out if the settings of the base branch say so. People also
// write sentences about these programs and about Lockstep. A line is a sentence, and not for us, if the word
// after the name resembles no verb, or if words follow that no command has. A command that is marked as code,
// as a list item or with quotes is not carried out: people write about commands in this way. But if a comment
// contains nothing else, it gets an answer that says so.
//
// The package is pure. It does not know projects, runs, and the texts about problems. Start reading at
// [Parse]; verbs.go and options.go are the tables.
package grammar
