// Package ledger stores what Lockstep knows about pull requests in records: runs, answers, leases, the last
// apply to each state, and the applies that were begun. Every change is a conditional write. After a conflict,
// the change is repeated with the new value.
//
// The package does not know GitHub, the engine, or the reasons for its writes. Its one rule: a writer
// overwrites only a value that it has read. Start reading at [Ledger].
package ledger

import "github.com/lockstep-iac/lockstep/functions/pipeline"

// A Ledger reads and writes the records of the pipeline. It contains no state itself.
type Ledger struct {
	Records pipeline.Records
	// Build is the ID of the build in which this process runs; "" outside of builds.
	Build string
}
