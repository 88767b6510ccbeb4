// Package ledger keeps what is known of pull requests in records: runs, answers, leases, the
// last apply to each state, and what was begun. Every change is a conditional write, made
// again from the new value where somebody else was first.
//
// The package refuses to know GitHub, the engine, and when a record is to be written: it has
// no rule of its own but that nothing is overwritten unseen. Start at [Ledger].
package ledger

import "github.com/lockstep-iac/lockstep/functions/pipeline"

// A Ledger reads and writes the records of the pipeline. It keeps nothing itself.
type Ledger struct{ Records pipeline.Records }
