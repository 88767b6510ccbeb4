// Package statebackend keeps the state of workspaces: bytes, and a token for
// the version of those bytes. It refuses to know what the bytes say. States,
// plans and addresses live in the engine; AWS and files live in the
// sub-packages; this package has only the contracts between the two, and the
// few rules that hold for every store. Start with [Workspace], then read
// [Store] and [Locker]: their comments are the consistency contract, and
// statebackendtest.Run is the same contract as tests.
//
// # The protocol
//
// A run that changes a state goes through these steps, and a process may die,
// or an answer may get lost, between any two of them:
//
//	Lock     take every kind of lock that other writers might look at
//	Get      read the bytes and the version they have
//	Put ...  write new bytes, on condition that the version is still that one
//	Unlock   release what was taken
//
// Two things protect a state, and neither of them trusts the other. The lock
// keeps honest writers apart: it is advisory, it is what the stock command
// line tools respect, and a person can break it. The condition on each write
// protects against everybody else: a writer whose lock was broken, a writer
// that never locked, a process that was suspended for an hour and wakes up.
// So a lost lock costs at worst a refused write, never an overwritten state.
//
// A death before Lock returns can leave a lock that nobody holds. Its LockInfo
// says whose it was, and Unlock with its ID removes it, in whole or what is
// left of it.
//
// A death between Lock and Put leaves the old state and a lock.
//
// A death inside Put leaves the old bytes or the new ones, never a mixture,
// and at most one side record that has to be set right. Each store says at
// the line where that can happen what puts it right: for local the sibling
// file that holds the whole new state, for s3 the digest that the lock item
// announced.
//
// An error from Put that is not a [ConflictError] or a [LockLostError] means "not known": the bytes
// may be stored or not. Put is idempotent, so the caller's answer is to Put
// the same bytes with the same previous version again. A store that finds its
// own bytes there calls that a success, because a refused condition is often
// the echo of one's own first attempt, whose answer was lost on the way.
//
// A death between Put and Unlock leaves a good state and a lock.
//
// # Locks of several kinds
//
// Command line tools of different age and configuration look at different
// locks for the same S3 state: an item in a DynamoDB table, or an object
// beside the state, or both. We hold every kind that the backend block names,
// and the object besides, so that any of them respects us. They are taken in
// one order (object, then item) by everybody, so that two writers cannot hold
// one each and wait for the other forever; a second that cannot be had
// releases the first; a release tries all of them, whatever the first says.
//
// # The journal
//
// An apply journal stands beside this protocol, not inside it: a [Log] has names of its own, and
// needs nothing of Store and Locker. A workspace that can keep one is [Journaled]; the protocol
// is package journal's.
package statebackend
