package plans

import (
	"cmp"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// An Invocation is an action that an apply of the plan invokes: because a trigger of a resource asks for it, or by the option
// -invoke.
type Invocation struct {
	Addr     addrs.AbsResourceInstance // of the action
	Provider addrs.AbsProviderConfig
	// Config is the configuration of the action as far as it is known, with marks and without write-only values.
	Config cty.Value
	// Schema describes Config; nil only if the provider no longer knows the type.
	Schema *schema.Schema
	// Caller is the resource instance that the action is invoked for, the zero value if there is none.
	Caller addrs.AbsResourceInstance
	// Event is the moment in the change of Caller; "" for the option -invoke.
	Event config.Event
	// Trigger is the index of an action_trigger block in the resource of Caller. Index is the index of the
	// action in this block.
	Trigger, Index int
	OnFailure      config.OnFailure
	// Pending is set if an earlier apply was to invoke the action after a change of Caller, and did not complete it.
	Pending bool
}

// Compare orders invocations as Terraform lists them. First come the invocations by the option -invoke, ordered
// by action. The others are ordered by resource instance and then as in the configuration. This is also the
// order in which an apply invokes the actions of one event.
func (x *Invocation) Compare(y *Invocation) int {
	return cmp.Or(
		cmp.Compare(min(len(x.Event), 1), min(len(y.Event), 1)),
		x.Caller.Compare(y.Caller), cmp.Compare(x.Trigger, y.Trigger), cmp.Compare(x.Index, y.Index),
		cmp.Compare(after(x.Event), after(y.Event)), cmp.Compare(x.Event, y.Event),
		x.Addr.Compare(y.Addr),
	)
}

// after is 1 for an event after a change, and 0 for one before it.
func after(e config.Event) int {
	if e == "" || e.Before() {
		return 0
	}
	return 1
}

// Triggered returns, by the address of a resource instance, the invocations that are part of the change of
// this instance. Invocations for the same event are in the order in which the apply invokes them.
func (p *Plan) Triggered() map[addrs.AbsResourceInstance][]*Invocation {
	out := map[addrs.AbsResourceInstance][]*Invocation{}
	for _, x := range p.Invocations {
		if x.Event != "" {
			out[x.Caller] = append(out[x.Caller], x)
		}
	}
	return out
}
