// Package audit records who has decided what about a state, and what was done. Each state has a chain of records. A
// record contains the SHA-256 of the record before it, so nobody can change, remove or reorder records unnoticed.
//
//	record.go   a Record, and its bytes
//	trail.go    appends records
//	verify.go   checks a chain: its hashes, and that only what was allowed was applied
//	ocsf.go     a Record as an event of the Open Cybersecurity Schema Framework
//
// An apply writes two records: one before its first change, and one before its result is reported. The first has
// all facts of the decision, so [Verify] can decide again. The last record of a chain has no successor that could
// vouch for it. Therefore, the hash of an apply's second record is also in the records of the pipeline, as
// runs.LastApply.Audited.
//
// The package decides nothing about applies. Start reading at [Trail.Append].
package audit
