package jobs

import "github.com/lockstep-iac/lockstep/functions/pipeline/runs"

// A Snapshot is the state of a project as it is given to the plan of a fork's commit: without its secrets, and without
// what providers keep beside their objects.
type Snapshot struct {
	// State is the file; nil if there is none yet.
	State []byte `json:",omitempty"`
	// ID is that of the state that was read.
	ID runs.StateID `json:",omitzero"`
	// Problem is the reason if it could not be made, in Markdown.
	Problem string `json:",omitempty"`
}
