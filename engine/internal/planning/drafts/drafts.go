// Package drafts holds a plan while it is made: the prior state, the changes, the values that
// resources will have, and the reasons why objects cannot be destroyed. The visits of many
// resources read and write them at the same time.
//
// It keeps and answers. It refuses to know configurations and providers, and decides nothing: which
// change an object gets is for package planning. Start at [Changes].
package drafts
