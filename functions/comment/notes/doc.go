// Package notes has the texts of notes above a plan, or next to the plans of a pull request. They are about the
// address of a project's state, its encryption, the settings, removed projects, and planned outputs. Other
// notes belong to no plan and no command: a repository that is not served, a process that was ended, and
// settings of another program.
//
// It does not know plans and their standings, and when a note is shown: its callers decide. Start reading at
// [Placed], [Removed] and [NotServed].
package notes
