package jobs

import (
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A PlanResult is the result of planning a project.
type PlanResult struct {
	// Plan is the saved plan, nil if planning failed. It is secret.
	Plan []byte
	// State is the state that was planned from.
	State runs.StateID
	// Parts are those that the engine knows: all but Inputs and Saved.
	Parts  runs.PlanParts
	Counts counting.Counts
	// Content is the part of the plan's content that requirements can be about; nil without a plan.
	Content *runs.Content `json:",omitempty"`
	// Applyable is set if the plan has something to apply.
	Applyable bool
	// Doubts are the addresses of objects that the plan leaves out, since nobody knows whether they exist.
	Doubts []string `json:",omitempty"`
	// Report is for people, in Markdown: the plan, or its failure. It may be shortened.
	Report string
	// Full is the whole plan, or all errors, as text; "" if Report has it all.
	Full string
	// Read are the paths in the checkout that file functions looked at, slash-separated and sorted,
	// of existing files and others: the plan depends on them, too.
	Read []string
	// Outputs are those that the state will have once the plan is applied, for [PlannedOutputs]: encrypted as the state
	// is; nil if nobody has asked for them, or they cannot be had. Asked are the places of states among
	// [Job.PlannedOutputs] that were read, of a failed plan, too.
	Outputs []byte   `json:",omitempty"`
	Asked   []string `json:",omitempty"`
	// Previewed is set if the plan was made of a [Snapshot]: there is no saved one then.
	Previewed bool `json:",omitempty"`
}

// An Outcome is the result of applying a plan.
type Outcome struct {
	// Refused is set if permit refused: nothing was done.
	Refused bool
	// Moved are the remote modules whose contents are not those of the plan, for people. If there are
	// any, nothing was done, and the plan is stale.
	Moved  []string
	Failed bool
	// Lost is set if the process ended after permit had allowed the apply, so that the changes are
	// unknown. Report tells how it ended.
	Lost bool `json:",omitempty"`
	// Resumable is set if the apply ended early, because its time was over or it was stopped, and
	// can go on: the journal beside the state has all that another process needs. The state is
	// still locked for the run then, unless nobody goes on.
	Resumable bool `json:",omitempty"`
	// Progress is how far the apply is.
	Progress comment.Progress `json:",omitzero"`
	// Remaining is the number of actions that were not begun, of which a replacement is two.
	Remaining int
	State     runs.StateID // the state afterwards
	Counts    counting.Counts
	Report    string // for people, in Markdown; may be empty
	// Full is all of the outcome as text; "" if Report has it all.
	Full string `json:",omitempty"`
}
