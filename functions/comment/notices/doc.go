// Package notices has the words for people about work that has no plan and no command: a repository
// that is not served, a process that was ended, and the settings of another program.
//
// It refuses to know why: its callers decide. Start at [NotServed], [Ended] and [Atlantis].
package notices
