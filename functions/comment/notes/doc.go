// Package notes has the words of the notes that stand above a plan, or beside the plans of a pull request: where the state of a
// project is kept, how it is encrypted, what the settings say, and projects that are gone.
//
// It refuses to know plans and their standings, and why a note is there: its callers decide. Start at [Placed] and [Removed].
package notes
