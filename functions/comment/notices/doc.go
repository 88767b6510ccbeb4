// Package notices has the words for people about work that has no plan and no command: a repository
// that is not served, and a process that was ended.
//
// It refuses to know why: its callers decide. Start at [NotServed] and [Ended].
package notices
