// Package grammar reads the commands of people: the lines of a comment that are addressed to
// Lockstep, in a closed grammar.
//
//	lockstep VERB [ARGUMENT...] [-p NAME] [-d DIR] [-w WORKSPACE] [--failed] [OPTION...]
//
// A line becomes a [Command], every part of which has passed one check of its own, or a [Problem]
// with a suggestion. There is no shell: quotes keep words together and mean nothing else, no word is
// looked up anywhere, and what is not in a table here is not understood. Where a slip is plain and
// harmless it is obeyed: "Lockstep Plan.", --project=net, a name in quotes. Other slips are
// answered, and a suggestion never means more than the line did: a word that could have been a limit
// is repaired, or there is no suggestion but help.
//
// Lines for other programs (atlantis, digger, terraform, tofu) are read by the same tables, with
// [Foreign] as their problem: package dispatch obeys them where the settings of the base branch say so.
// People also write about these programs, and about Lockstep: a line is read as a sentence, and is not
// for us, if the word behind the name is like none of the verbs, or if words follow that no command has.
// Commands set apart as code, in a list or in quotes are talked of, and none; a comment that has nothing
// else is answered so.
//
// The package is pure. It refuses to know projects, runs, and the words in which a problem is told.
// Start at [Parse]; verbs.go and options.go are the tables.
package grammar
