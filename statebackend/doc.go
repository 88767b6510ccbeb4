// Package statebackend keeps the state of workspaces: bytes, and a token for
// the version of those bytes. It does not know what the bytes mean.
// States, plans and addresses are in the engine; AWS and files are in the
// sub-packages. This package has only the contracts between the two, and the
// few rules of every store. Start with [Workspace], then read
// [Store] and [Locker]: their comments are the consistency contract, and
// statebackendtest.Run is the same contract as tests.
//
// # The protocol
//
// A run that changes a state goes through these steps. Between any two of them
// the process may die, or the response to a request may get lost:
//
//	Lock     take every kind of lock that other writers may check
//	Get      read the bytes and their version
//	Put ...  write new bytes, on condition that the version has not changed
//	Unlock   release all locks taken
//
// Two independent mechanisms protect a state: the lock, and the condition on each write. The lock
// keeps cooperating writers apart: it is advisory, the stock command line tools
// respect it, and a person can break it. The condition on each write protects
// against everybody else: a writer whose lock was broken, a writer that never
// locked, a process that was suspended for an hour and wakes up. So a lost lock
// costs at worst a refused write, never an overwritten state.
//
// A death before Lock returns can leave a lock without a holder. The LockInfo
// names the dead process, and Unlock with the lock's ID removes the lock, complete or not.
//
// A death between Lock and Put leaves the old state and a lock.
//
// A death inside Put leaves the old bytes or the new bytes, never a mixture, and
// at most one side record that has to be repaired. Each store describes the repair
// at the line where such a death is possible: local completes the file from a
// sibling that has the whole new state, s3 writes the digest that the lock
// item announced.
//
// An error from Put that is not a [ConflictError] or a [LockLostError] means
// "not known": the bytes may be stored or not. Put is idempotent, so the caller
// calls Put again with the same bytes and the same previous version. A store
// that finds exactly these bytes reports success, because a refused condition is
// often caused by an earlier attempt of the same writer whose response was lost.
//
// A death between Put and Unlock leaves a good state and a lock.
//
// # Locks of several kinds
//
// Command line tools of different age and configuration look at different
// locks for the same S3 state: an item in a DynamoDB table, or an object
// beside the state, or both. Lockstep takes every kind that the backend block names,
// and always the object, so that each of these tools sees the lock. Every tool
// takes the locks in the same order (object, then item), so that two writers cannot
// hold one each and wait for the other forever. If the second lock cannot be taken,
// the first is released. A release tries all locks, even if one release fails.
//
// # Leases
//
// A lock in a store outlives its process. Where writes can be conditional, the lock can carry a lease:
// see [Leased] for who may take it over, and package leasing for the clocks. A death between two
// of the steps above then needs no person. A death in one of these calls leaves:
//
//	LockLeased  after the first of several writes: an incomplete lock, which anybody may release by
//	            its ID when [FirstLease] is over; after the last write: a lock that can be taken over
//	Renew       the lease with the earlier ends or the later ends
//	TakeOver    the lock of the previous or of the new holder: either can be taken over later. The next
//	            holder settles an announced digest before it announces another
//	Unlock      after the lease is given back: an incomplete lock
//
// Where a lock object is the only lock, its lease is in the object, after the text of
// [LockInfo.Info]: one request writes both, and each renewal shows that the object is still there.
//
// A lock of the operating system ends with its process, and needs no lease (package local). The
// lock of a database ends with its session (package pg). The lock of an HTTP server has no place for a lease.
//
// # The journal
//
// An apply journal is independent of this protocol: a [Log] has its own file or object names,
// and does not use Store or Locker. A workspace that can keep a journal is [Journaled]. Package
// journal describes the journal's protocol.
//
// # What an apply costs
//
// On a distant server each request costs waiting time. The table lists the requests of an apply on S3 that changes
// three objects at a time: with a lock object alone (L), or with a DynamoDB table, too (T). TestRequestsOfAnApply
// checks each of them. Terraform makes 7 requests with a table: it has no journal and no leases, and checks nothing
// again before it writes.
//
//	step     request                    L   T   what would be lost without the request
//	lock     prove the conditions       1   1   a server that ignores conditions lets two runs hold the lock;
//	                                            not needed on Amazon S3, which obeys conditions
//	         create the lock object     1   1   the lock, with its lease in L
//	         create the lock item           1   the lock for tools that look into the table, with the lease
//	read     get the state              1   1
//	         get the digest                 1   the state of a writer who died before writing the digest
//	         list the journal           1   1   the records of a run that died, and late outcomes
//	         get its last segment       1   1   the fence, and the checksum that the next segment quotes
//	confirm  get the lock object            1   notice of a lock released while a person read the plan; a renewal
//	         renew the lease            1   1   gives that notice only for the place that stores the lease
//	journal  start and first intents    1   1   the creations under way when the process dies; if another run has
//	                                            written there, the request is refused and nothing begins
//	         outcomes                   1   1   objects that were made, if the process dies before the save
//	         the coming save            1   1   proof that this run wrote the state, if it dies before the end
//	save     get the lock object        1   1   notice of a lock lost during the apply: a stock tool may have
//	                                            written a state that Lockstep would replace
//	         announce the digest            1   the same for the item; and the repair of the digest
//	         put the state              1   1
//	         put the digest                 1   stock readers, who refuse a state without its digest
//	end      end of the journal         1   1   objects that a stock tool changes later: the old records
//	                                            would still count
//	unlock   give the lease back        1       somebody else's lock, where a server ignores the condition of
//	         get the lock object            1   a deletion; not needed on Amazon S3
//	         delete the lock item           1
//	         delete the lock object     1   1
//	                                   14  20
//	         on Amazon S3              12  18
//
// Each level of a chain of objects adds an intent and an outcome, since an outcome is made durable before a dependent
// object begins. A plan costs 7 requests (T: 10). An apply without changes costs 8 (12): it confirms the lock, and
// writes no journal.
//
// T could make 15 requests, but would lose a guarantee. The two reads of its lock object notice that a tool
// without a table has released the object. One transaction could write the digest and delete the item. But then
// readers without a lock, such as terraform_remote_state, would see a wrong digest for longer. And policies and
// servers without transactions would still need the present requests.
package statebackend
