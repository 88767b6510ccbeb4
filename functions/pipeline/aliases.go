package pipeline

import "github.com/lockstep-iac/lockstep/functions/pipeline/runs"

// The data that this package speaks of is package runs'.
type (
	Pull     = runs.Pull
	Run      = runs.Run
	Phase    = runs.Phase
	StateID  = runs.StateID
	Artifact = runs.Artifact
	Serves   = runs.Serves
)

// ParseServes reads which owners and repositories are served.
func ParseServes(text string) (Serves, error) { return runs.ParseServes(text) }

// The phases of a run.
const (
	New         = runs.New
	Queued      = runs.Queued
	Planning    = runs.Planning
	Planned     = runs.Planned
	PlanFailed  = runs.PlanFailed
	ApplyQueued = runs.ApplyQueued
	Applying    = runs.Applying
	Applied     = runs.Applied
	ApplyFailed = runs.ApplyFailed
	Stale       = runs.Stale
	Superseded  = runs.Superseded
	Dropped     = runs.Dropped
)
