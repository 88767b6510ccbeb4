package jobs

import "github.com/lockstep-iac/lockstep/functions/pipeline/runs"

// A BeforeApply has facts that an engine has found after it locked the state, and before it applies a plan.
type BeforeApply struct {
	State runs.StateID
	// OtherVersion is set if a different version of Lockstep made the plan. Providers names a provider whose
	// package is not the one with which the plan was made; "" if there is none.
	OtherVersion bool
	Providers    string
	// Content has the facts about the plan to apply; nil if the plan cannot be read.
	Content *runs.Content `json:",omitempty"`
	// Again is the new plan that was made because permit has answered [PlanAgain]; nil before that.
	Again *Replanned
}

// Replanned is a new plan, compared with the plan to apply.
type Replanned struct {
	Plan PlanResult
	// Equal is set if both plans make the same changes. Otherwise, Difference describes the difference for
	// people, in Markdown; "" if the plan to apply could not be read.
	Equal      bool
	Difference string
}

// Checked is the result of checking whether a plan still fits the present state of its project.
type Checked struct {
	// Now has the parts of the plan that have changed, and a new plan that was made with the checkout's
	// configuration. The new plan is nil if it could not be made; Problem is then the reason, in Markdown.
	Now     BeforeApply
	Problem string
	// Modules are the remote modules whose contents differ from those in the plan, for people.
	Modules []string
}

// A Permit is the answer to an engine that asks whether it may apply a plan.
type Permit string

const (
	Refused   Permit = ""
	Permitted Permit = "permitted"
	PlanAgain Permit = "plan again" // the plan is out of date: make it again, and ask again
	// PlanCheckout is like PlanAgain, but the new plan uses the checkout's configuration instead of the plan's.
	PlanCheckout Permit = "plan the checkout"
)
