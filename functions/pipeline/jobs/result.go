package jobs

import (
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/estimates"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A PlanResult is the result of planning a project.
type PlanResult struct {
	// Plan is the saved plan; nil if planning failed. It is secret.
	Plan []byte
	// State is the state from which the plan was made.
	State runs.StateID
	// Parts are those parts of the plan that the engine knows. Inputs and Saved are not set.
	Parts  runs.PlanParts
	Counts counting.Counts
	// Content has the facts about the plan on which requirements can depend; nil if there is no plan.
	Content *runs.Content `json:",omitempty"`
	// Applyable is set if the plan has something to apply.
	Applyable bool
	// Drifted is the number of objects that are not as the state says.
	Drifted int `json:",omitempty"`
	// DriftIgnored is the number of further such objects, which the rules in [Job.IgnoredDrift] leave out.
	DriftIgnored int `json:",omitempty"`
	// Literals are the changes of the configuration that keep the drift. They are set if [Job.Literals] is set.
	Literals comment.Literals `json:",omitzero"`
	// Doubts are the addresses of objects that the plan leaves out, because nobody knows whether they exist.
	Doubts []string `json:",omitempty"`
	// JSON is the plan as JSON, without sensitive values. The field is set if [Job.PlanJSON] is set.
	// Source: https://developer.hashicorp.com/terraform/internals/json-format#plan-representation
	JSON []byte `json:",omitempty"`
	// Report is the plan, or the errors, for people, in Markdown. It may be shortened.
	Report string
	// Full is the whole plan, or all errors, as text; "" if Report already has all of it.
	Full string
	// Notes are texts beside lines of the head commit: what causes the changes, or where errors are.
	Notes []comment.LineNote `json:",omitempty"`
	// Steps are the outcomes of the plan's steps, for people.
	Steps []comment.Step `json:",omitempty"`
	// StepOutputs are the outputs of the plan's steps, as text without secrets; nil if they have written nothing.
	StepOutputs []byte `json:",omitempty"`
	// Findings are the findings of the plan's steps, encoded for later comparisons; nil if no step reports findings.
	Findings []byte `json:",omitempty"`
	// Generated is the configuration that the plan's steps have generated, encoded for later comparisons; nil for none.
	Generated []byte `json:",omitempty"`
	// Read are the paths in the checkout that file functions have read, slash-separated and sorted. They
	// include paths at which no file exists. The plan depends on all of them.
	Read []string
	// Outputs are the outputs that the state will have after the apply, for [PlannedOutputs]. They are
	// encrypted in the same way as the state. They are nil if [Job.Foresee] is not set, or if they are not
	// available. Asked are the addresses of states in [Job.Foreseen] that the plan has read. It is also set for
	// a failed plan.
	Outputs []byte   `json:",omitempty"`
	Asked   []string `json:",omitempty"`
	// Previewed is set if the plan was made from a [Snapshot]. Such a plan is not saved.
	Previewed bool `json:",omitempty"`
	// Calls are the calls of providers. They are not part of a record.
	Calls Calls `json:",omitempty"`
}

// An Outcome is the result of applying a plan.
type Outcome struct {
	// Refused is set if permit has refused. Nothing was changed then.
	Refused bool
	// Moved are the remote modules whose contents differ from those in the plan, for people. If there are any,
	// nothing was done, and the plan is out of date.
	Moved  []string
	Failed bool
	// Lost is set if the process died after permit had allowed the apply. The changes are then unknown, and
	// Report says how the process ended.
	Lost bool `json:",omitempty"`
	// Resumable is set if the apply has stopped early and can continue: its time was over, or somebody has
	// stopped it. The journal beside the state has everything that another process needs. The state stays
	// locked for the run until the apply is continued or given up.
	Resumable bool `json:",omitempty"`
	// Progress is how much of the apply is done.
	Progress comment.Progress `json:",omitzero"`
	// Remaining is the number of planned actions that were not begun. A replacement counts as two.
	Remaining int
	State     runs.StateID // the state after the apply
	Counts    counting.Counts
	Report    string // for people, in Markdown; may be empty
	// Full is the whole result as text; "" if Report already has all of it.
	Full string `json:",omitempty"`
	// Contents are the outputs that are not sensitive, and the addresses of the objects of the state after the apply, as text. They
	// are not part of a record.
	Contents string `json:",omitempty"`
	// Took has the durations of the changes that this process has made. It is not part of a record.
	Took estimates.Durations `json:",omitempty"`
	// Calls are the calls of providers of this process. They are not part of a record.
	Calls Calls `json:",omitempty"`
}
