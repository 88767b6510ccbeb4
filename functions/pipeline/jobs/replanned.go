package jobs

import "github.com/lockstep-iac/lockstep/functions/pipeline/runs"

// A BeforeApply has the facts that an engine has found before it applies a plan, with the state locked.
type BeforeApply struct {
	State runs.StateID
	// OtherVersion is set if another version of Lockstep made the plan. Providers names a provider whose
	// package differs from that in the plan; "" for none.
	OtherVersion bool
	Providers    string
	// Content is the content of the plan to apply; nil if it cannot be read.
	Content *runs.Content `json:",omitempty"`
	// Again is the plan that was made again, because the answer was [PlanAgain]; nil until then.
	Again *Replanned
}

// Replanned is a plan that was made again, compared with the plan to apply.
type Replanned struct {
	Plan PlanResult
	// Equal is set if both plans do the same. Otherwise Difference describes the difference for people, in
	// Markdown. It is "" if the plan to apply could not be read.
	Equal      bool
	Difference string
}

// Checked is the result of checking a plan against the present state of its project.
type Checked struct {
	// Now has the parts of the plan that have changed, and the plan made again with the checkout's
	// configuration. The plan is nil if it could not be made; then Problem has the reason, in Markdown.
	Now     BeforeApply
	Problem string
	// Modules are the remote modules whose contents differ from those in the plan, for people.
	Modules []string
}

// A Permit answers an engine that is about to apply a plan.
type Permit string

const (
	Refused   Permit = ""
	Permitted Permit = "permitted"
	PlanAgain Permit = "plan again" // the plan is out of date: make it again, and ask again
	// PlanCheckout is like PlanAgain, but the new plan uses the checkout's configuration instead of the plan's.
	PlanCheckout Permit = "plan the checkout"
)
