// Package admission is the gate: decisions about plans and applies, without effects.
//
// [Decide] decides whether a run may be planned, applied or unlocked, from facts that its caller has just read; each rule is a
// row of one table. A decision contains rules and facts, and package comment has the words. [Check] compares a plan that waits with one
// that was made again, [Continue] decides about the rest of an apply, and [PlaceFor] about the address of a state.
//
// The package refuses to read anything, and to decide about the requirements of the settings, which package requirementrules does. Start at [Request]
// and [Decide].
package admission
