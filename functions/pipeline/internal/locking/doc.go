// Package locking keeps the state of a project for one pull request, when a person comments "lockstep
// lock": no other one is applied to it until the person unlocks it, or the pull request is merged or closed.
//
//	Locker   a command -> gate -> a reservation in the ledger, for each project
//	Lifter   ends the reservations of a pull request, and has the others shown without them
//
// The reservation belongs to the pull request and not to a head, so that a push does not end it. The gate
// reads it before an apply is queued, and again with the state locked.
//
// The package refuses to know how a state is locked while it is written: that is the engine's. Start at
// [Locker.Lock].
package locking
