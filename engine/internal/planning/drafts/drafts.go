// Package drafts holds the parts of a plan while it is made: the prior state, the changes, the values that
// resources will have, and the reasons why objects cannot be destroyed. The visits of many resources read and
// write them at the same time.
//
// It stores data and answers questions. It refuses to know configurations and providers, and decides nothing:
// package planning chooses the change of an object. Start at [Changes].
package drafts
