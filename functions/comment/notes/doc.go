// Package notes has the texts of notes that Lockstep writes above a plan, or beside the plans of a pull
// request. They are about the address of a project's state, its encryption, the settings, removed projects, and
// planned outputs. Some notes belong to no plan: about a repository for which Lockstep does not work, a process
// that was ended, and settings of another program.
//
// The package does not know plans and their states. Its callers decide when a note is shown. Start reading at
// [Placed], [Removed] and [NotServed].
package notes
