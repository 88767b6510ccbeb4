// Package ledger stores the knowledge about pull requests in records: runs, answers, leases, the last apply to
// each state, and the applies that were begun. Every change is a conditional write. After a conflict it is
// repeated from the new value.
//
// This package does not know GitHub, the engine, and the reasons for its writes. Its one rule: a writer
// overwrites only a value that it has read. Start reading at [Ledger].
package ledger

import "github.com/lockstep-iac/lockstep/functions/pipeline"

// A Ledger reads and writes the records of the pipeline. It has no state of its own.
type Ledger struct {
	Records pipeline.Records
	// Build is the ID of the build in which this process runs; "" outside of builds.
	Build string
}
