package jobs

import "github.com/lockstep-iac/lockstep/functions/pipeline/runs"

// A BeforeApply is the finding of an engine that is about to apply a plan, with the state locked.
type BeforeApply struct {
	State runs.StateID
	// OtherVersion is set if another version of Lockstep made the plan. Providers tells which
	// provider's package is not that of the plan, "" if none.
	OtherVersion bool
	Providers    string
	// Content is that of the plan to apply; nil if it cannot be read.
	Content *runs.Content `json:",omitempty"`
	// Replanned is the plan that was made again, because the answer was PlanAgain; nil before.
	Again *Replanned
}

// Replanned is a plan that was made again, compared with the one to apply.
type Replanned struct {
	Plan PlanResult
	// Equal is set if both do the same. Else Difference is the difference, for people, in Markdown;
	// "" if the plan to apply could not be read.
	Equal      bool
	Difference string
}

// Checked is the result of checking a plan against its project as it is now.
type Checked struct {
	// Now has the parts of the plan that have moved, and the plan made again, which has the checkout's
	// configuration; that is nil if it could not be made, for which Problem is the reason, in
	// Markdown.
	Now     BeforeApply
	Problem string
	// Modules are the remote modules whose contents are not those of the plan, for people.
	Modules []string
}

// A Permit answers an engine that is about to apply a plan.
type Permit string

const (
	Refused   Permit = ""
	Permitted Permit = "permitted"
	PlanAgain Permit = "plan again" // and ask again: the plan does not fit any more
	// PlanCheckout is the same, with the checkout's configuration in the place of the plan's.
	PlanCheckout Permit = "plan the checkout"
)
