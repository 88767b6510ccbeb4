// Package ledger keeps the knowledge about pull requests in records: runs, answers, leases, the
// last apply to each state, and applies that were begun. Every change is a conditional write,
// repeated from the new value after a conflict.
//
// The package refuses to know GitHub, the engine, and the occasions of its writes: its one rule is
// that nothing is overwritten unseen. Start at [Ledger].
package ledger

import "github.com/lockstep-iac/lockstep/functions/pipeline"

// A Ledger reads and writes the records of the pipeline. It keeps nothing itself.
type Ledger struct {
	Records pipeline.Records
	// Build is the ID of the build that this process is; "" for a process that is none.
	Build string
}
