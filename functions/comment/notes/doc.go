// Package notes has the words of the notes that stand above a plan, or beside the plans of a pull request: where the state of a
// project is kept, how it is encrypted, what the settings say, and projects that are gone; and of notes about work that has no plan and no
// command: a repository that is not served, a process that was ended, the settings of another program, and outputs that are not there yet.
//
// It refuses to know plans and their standings, and why a note is there: its callers decide. Start at [Placed], [Removed] and [NotServed].
package notes
