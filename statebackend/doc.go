// Package statebackend keeps the state of workspaces: bytes, and a token for
// the version of those bytes. It refuses to know the meaning of the bytes.
// States, plans and addresses live in the engine; AWS and files live in the
// sub-packages; this package has only the contracts between the two, and the
// few rules that hold for every store. Start with [Workspace], then read
// [Store] and [Locker]: their comments are the consistency contract, and
// statebackendtest.Run is the same contract as tests.
//
// # The protocol
//
// A run that changes a state goes through these steps. Between any two of them
// the process may die, or the response to a request may get lost:
//
//	Lock     take every kind of lock that other writers might look at
//	Get      read the bytes and their version
//	Put ...  write new bytes, on condition that the version has not changed
//	Unlock   release all locks taken
//
// Two mechanisms protect a state, and neither of them trusts the other. The lock
// keeps honest writers apart: it is advisory, the stock command line tools
// respect it, and a person can break it. The condition on each write protects
// against everybody else: a writer whose lock was broken, a writer that never
// locked, a process that was suspended for an hour and wakes up. So a lost lock
// costs at worst a refused write, never an overwritten state.
//
// A death before Lock returns can leave a lock without a holder. Its LockInfo
// names the dead process, and Unlock with its ID removes it, complete or not.
//
// A death between Lock and Put leaves the old state and a lock.
//
// A death inside Put leaves the old bytes or the new ones, never a mixture, and
// at most one side record that has to be repaired. Each store names the repair
// at the line where such a death is possible: local completes the file from a
// sibling that holds the whole new state, s3 writes the digest that the lock
// item announced.
//
// An error from Put that is not a [ConflictError] or a [LockLostError] means
// "not known": the bytes may be stored or not. Put is idempotent, so the caller
// calls Put again with the same bytes and the same previous version. A store
// that finds these very bytes reports success, because a refused condition is
// often the echo of an earlier attempt whose response was lost.
//
// A death between Put and Unlock leaves a good state and a lock.
//
// # Locks of several kinds
//
// Command line tools of different age and configuration look at different
// locks for the same S3 state: an item in a DynamoDB table, or an object
// beside the state, or both. We hold every kind that the backend block names,
// and always the object, so that each of these tools respects us. Everybody
// takes them in the same order (object, then item), so that two writers cannot
// hold one each and wait for the other forever. If the second cannot be taken,
// the first is released; and a release tries all of them, even if one fails.
//
// # Leases
//
// A lock in a store outlives its process. Where a write can be conditional, it can carry a lease:
// see [Leased] for who may take it over, and package leasing for the clocks. A death between two
// of the steps above then needs no person:
//
//	LockLeased  after the first of its writes: an incomplete lock, which anybody releases by its
//	            ID when [FirstLease] is over; after the last: a lock that is taken over
//	Renew       the lease with the earlier ends or the later ones
//	TakeOver    the lock of the one before, or ours: both are taken over in their turn. An
//	            announced digest is settled before anything else is announced
//	Unlock      after the lease is given back: an incomplete lock
//
// A lock of the operating system ends with its process, and needs no lease (package local). The
// lock of an HTTP server has no place for one.
//
// # The journal
//
// An apply journal stands beside this protocol, not inside it: a [Log] has names of its own,
// and needs nothing of Store and Locker. A workspace that can keep one is [Journaled]; package
// journal has its protocol.
package statebackend
