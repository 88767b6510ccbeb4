package jobs

import (
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A PlanResult is the result of planning a project.
type PlanResult struct {
	// Plan is the saved plan; nil if planning failed. It is secret.
	Plan []byte
	// State is the state that the plan was made from.
	State runs.StateID
	// Parts are the parts of the plan that the engine knows: all except Inputs and Saved.
	Parts  runs.PlanParts
	Counts counting.Counts
	// Content is the part of the plan that requirements can ask about; nil without a plan.
	Content *runs.Content `json:",omitempty"`
	// Applyable is set if the plan has something to apply.
	Applyable bool
	// Doubts are the addresses of objects that the plan leaves out, because nobody knows whether they exist.
	Doubts []string `json:",omitempty"`
	// Report is the plan or its failure for people, in Markdown. It may be shortened.
	Report string
	// Full is the whole plan, or all errors, as text; "" if Report is complete.
	Full string
	// Read are the paths in the checkout that file functions looked at, slash-separated and sorted. They
	// include paths of files that do not exist. The plan depends on all of them.
	Read []string
	// Outputs are the outputs of the state after the apply, for [PlannedOutputs], encrypted as the state is.
	// They are nil if [Job.Foresee] is not set, or if they are not available. Asked are the addresses of states
	// in [Job.Foreseen] that the plan has read. Asked is set for a failed plan, too.
	Outputs []byte   `json:",omitempty"`
	Asked   []string `json:",omitempty"`
	// Previewed is set if the plan was made from a [Snapshot]. Such a plan is not saved.
	Previewed bool `json:",omitempty"`
}

// An Outcome is the result of applying a plan.
type Outcome struct {
	// Refused is set if permit refused. Nothing was done then.
	Refused bool
	// Moved are the remote modules whose contents differ from those in the plan, for people. If there are any,
	// nothing was done, and the plan is out of date.
	Moved  []string
	Failed bool
	// Lost is set if the process died after permit had allowed the apply. The changes are then unknown, and
	// Report says how the process ended.
	Lost bool `json:",omitempty"`
	// Resumable is set if the apply stopped early and can continue, because its time was over or somebody
	// stopped it. The journal beside the state has everything that another process needs. The state stays
	// locked for the run until it is continued or given up.
	Resumable bool `json:",omitempty"`
	// Progress is how much of the apply is done.
	Progress comment.Progress `json:",omitzero"`
	// Remaining is the number of actions that were not begun. A replacement counts as two.
	Remaining int
	State     runs.StateID // the state after the apply
	Counts    counting.Counts
	Report    string // for people, in Markdown; may be empty
	// Full is the whole outcome as text; "" if Report is complete.
	Full string `json:",omitempty"`
}
