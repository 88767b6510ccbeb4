// Package statebackendtest holds the contracts of package statebackend as
// tests, fakes that keep them, and the real servers that are supposed to.
//
//   - [Run] is the conformance suite. Every backend passes it: those of this
//     repository, with fake and with real servers, and [Fake].
//   - [RunFaults] tries every write of a run as "failed" and as "failed but
//     persisted", with a run that goes on and with one that dies there.
//   - [RunLeaseFaults] does that with a run whose lock has a lease, and with one that takes the
//     lock over; the dead one wakes up in the end.
//   - [S3] and [DynamoDB] are servers on loopback that know as much of their
//     protocols as the s3 backend uses, and enforce every condition. They have
//     hooks for faults.
//   - [StartVersitygw], [StartDynoxide] and [StartDynalite] start the real ones. Where they are
//     not installed (.ci/parts does that), the test is skipped.
//
// It refuses to know how a backend does it.
package statebackendtest
