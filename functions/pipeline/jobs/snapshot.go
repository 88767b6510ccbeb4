package jobs

import "github.com/lockstep-iac/lockstep/functions/pipeline/runs"

// A Snapshot is the state of a project with which a fork's commit is planned. It contains no secrets, and no
// private data of providers.
type Snapshot struct {
	// State is the state file; nil if there is none yet.
	State []byte `json:",omitempty"`
	// ID identifies the state that was read.
	ID runs.StateID `json:",omitzero"`
	// Problem is the reason, in Markdown, if the snapshot could not be made.
	Problem string `json:",omitempty"`
}
