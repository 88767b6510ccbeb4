// Package statebackendtest has the contracts of package statebackend as tests, fakes that fulfil them, and
// starters of the real servers.
//
//   - [Run] is the conformance suite. Every backend passes it: those of this
//     repository, with fake and with real servers, and [Fake].
//   - [RunFaults] tries every write of a run as "failed" and as "failed but
//     persisted", with a run that continues and with one that dies there.
//   - [RunLeaseFaults] does the same with a run whose lock has a lease, and with a run that takes
//     the lock over. At the end the dead run wakes up.
//   - [S3] and [DynamoDB] are servers on loopback. They implement the parts of their protocols that
//     the s3 backend uses, and enforce every condition. They have hooks for faults.
//   - [StartVersitygw], [StartDynoxide] and [StartDynalite] start the real servers. If a server is not
//     installed (.ci/parts does that), the test is skipped.
//
// The package does not depend on the implementation of a backend.
package statebackendtest
