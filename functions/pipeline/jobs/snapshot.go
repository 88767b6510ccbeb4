package jobs

import "github.com/lockstep-iac/lockstep/functions/pipeline/runs"

// A Snapshot is the state of a project for the plan of a fork's commit. It contains no secrets, and no private
// data that providers keep with their objects.
type Snapshot struct {
	// State is the state file; nil if there is none yet.
	State []byte `json:",omitempty"`
	// ID identifies the state that was read.
	ID runs.StateID `json:",omitzero"`
	// Problem is the reason, in Markdown, if the snapshot could not be made.
	Problem string `json:",omitempty"`
}
