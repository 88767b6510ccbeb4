// Package locking reserves the state of a project for one pull request, after a person has commented "lockstep
// lock". No other pull request is applied to the state until the person unlocks it, or the pull request is
// merged or closed.
//
//	Locker   a command -> gate -> a reservation in the ledger, for each project
//	Lifter   ends the reservations of a pull request, and updates the comments of other pull requests
//
// A reservation belongs to the pull request and not to a head, so a push does not end it. The gate reads it
// before an apply is queued, and once more after the state was locked.
//
// The package does not know how a state is locked while it is written: the engine does that. Start reading at
// [Locker.Lock].
package locking
