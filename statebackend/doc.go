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
//	LockLeased  after the first of several writes: an incomplete lock, which anybody releases by
//	            its ID when [FirstLease] is over; after the last: a lock that is taken over
//	Renew       the lease with the earlier ends or the later ones
//	TakeOver    the lock of the one before, or ours: both are taken over in their turn. An
//	            announced digest is settled before anything else is announced
//	Unlock      after the lease is given back: an incomplete lock
//
// Where a lock object is the only lock, its lease is in the object, behind the words of
// [LockInfo.Info]: one request writes both, and each renewal shows that the object is still there.
//
// A lock of the operating system ends with its process, and needs no lease (package local). The
// lock of an HTTP server has no place for one.
//
// # The journal
//
// An apply journal stands beside this protocol, not inside it: a [Log] has names of its own,
// and needs nothing of Store and Locker. A workspace that can keep one is [Journaled]; package
// journal has its protocol.
//
// # What an apply costs
//
// On a distant server each request is a wait. An apply that changes three objects at a time makes these on S3, with
// a lock object alone (L) or with a table, too (T); TestRequestsOfAnApply holds them one by one. Terraform makes 7
// with a table. It has no journal and no leases, and looks at nothing again before it writes.
//
//	step     request                    L   T   what would be lost without it
//	lock     prove the conditions       1   1   a server that ignores conditions lets two runs hold the lock;
//	                                            not on Amazon S3, which is known to keep them
//	         create the lock object     1   1   the lock, with its lease in L
//	         create the lock item           1   the lock of tools that look into the table, with the lease
//	read     get the state              1   1
//	         get the digest                 1   the state of a writer who died before his digest
//	         list the journal           1   1   the records of a run that died, and late outcomes
//	         get its last segment       1   1   the fence, and the sum on which the next segment rests
//	confirm  get the lock object            1   a lock that was released while a person read the plan; renewing
//	         renew the lease            1   1   shows it for the place in which the lease is
//	journal  start and first intents    1   1   the creations under way when the process dies; it is refused, with
//	                                            all that would begin, if another run has written there
//	         outcomes                   1   1   objects that were made, if the process dies before the save
//	         the coming save            1   1   that the state is this run's own, if it dies before the end
//	save     get the lock object        1   1   a lock lost while it worked: a stock tool would write over ours
//	         announce the digest            1   the same for the item; and the repair of the digest
//	         put the state              1   1
//	         put the digest                 1   stock readers, who refuse a state without its digest
//	end      end of the journal         1   1   after a later stock write, whose objects are newer
//	unlock   give the lease back        1       a lock of somebody else, where a server ignores the condition of
//	         get the lock object            1   a deletion; not on Amazon S3
//	         delete the lock item           1
//	         delete the lock object     1   1
//	                                   14  20
//	         on Amazon S3              12  18
//
// Each level of a chain of objects adds an intent and an outcome, since the outcome is durable before anything rests on
// it. A plan costs 7 (T: 10) requests. An apply of nothing costs 8 (12), as it confirms the lock: it leaves the journal alone.
//
// T could have 15 only without a guarantee. The two reads of its lock object find out that a tool
// which knows no table has released it. The digest could go along with the deletion of the item in one transaction, but
// readers without a lock, such as terraform_remote_state, would meet a wrong digest for longer, and the
// policies and servers that know no transactions would need the other way besides.
package statebackend
