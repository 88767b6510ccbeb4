// Package notices has the words for people about work that has no plan and no command: a repository
// that is not served, a process that was ended, the settings of another program, and outputs that are not there yet.
//
// It refuses to know why: its callers decide. Start at [NotServed], [Ended], [Atlantis] and [Foreseen].
package notices
