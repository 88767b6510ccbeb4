package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/engine/render/internal/difference"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// invocationsOf returns the actions to invoke before, or after, the change of an object.
func (t planText) invocationsOf(c *plans.ResourceChange, before bool) []*plans.Invocation {
	if c.Addr.Deposed != addrs.NotDeposed {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(t.triggered[c.Addr.Instance]), func(x *plans.Invocation) bool { return x.Event.Before() != before })
}

// invocations writes the actions to invoke before and after a change, below the change.
func (t planText) invocations(nw *nodeWriter, c *plans.ResourceChange) {
	for _, when := range []struct {
		word string
		list []*plans.Invocation
	}{{"before", t.invocationsOf(c, true)}, {"after", t.invocationsOf(c, false)}} {
		if len(when.list) == 0 {
			continue
		}
		nw.b.WriteString("\n\n    " + t.p.in(bold, "# Actions to be invoked "+when.word+" this change in order:"))
		for _, x := range when.list {
			nw.b.WriteString("\n    # " + x.Addr.String() + "\n" + t.invocation(x))
		}
	}
}

// invocation returns an action to invoke as a block. The block has no symbols such as +, because invoking an
// action creates or deletes nothing.
func (t planText) invocation(x *plans.Invocation) string {
	nw := nodeWriter{p: t.p}
	if x.Pending {
		fmt.Fprintf(&nw.b, "    # (an earlier apply changed %s and did not complete this action)\n", x.Caller)
	}
	fmt.Fprintf(&nw.b, "    action %q %q {\n", x.Addr.Resource.Resource.Type, x.Addr.Resource.Resource.Name)
	if s := t.invocationSchema(x); s != nil && len(s.Block.Attributes)+len(s.Block.Blocks) > 0 {
		nw.b.WriteString("        config ")
		given := &plans.ResourceChange{Change: plans.Change{Action: plans.Create, Before: cty.NullVal(x.Config.Type()), After: x.Config}, Schema: s}
		nw.node(difference.OfResource(given, s, nil), 2, look{bare: true, all: true})
		nw.b.WriteByte('\n')
	}
	nw.b.WriteString("    }")
	return nw.b.String()
}

func (t planText) invocationSchema(x *plans.Invocation) *schema.Schema {
	if x.Schema != nil {
		return x.Schema
	}
	return t.schemas.Resource(x.Provider.Provider, x.Addr.Resource.Resource)
}

// separate returns the texts of the actions that are invoked without a change: actions of the option -invoke,
// and pending actions of objects that do not change.
func (t planText) separate(changes []*plans.ResourceChange) []string {
	changed := map[addrs.AbsResourceInstance]bool{}
	for _, c := range changes {
		if c.Addr.Deposed == addrs.NotDeposed {
			changed[c.Addr.Instance] = true
		}
	}
	var out []string
	for _, x := range t.plan.Invocations {
		if x.Event != "" && changed[x.Caller] {
			continue
		}
		header := fmt.Sprintf("  # %s will be invoked", t.p.in(bold, x.Addr.String()))
		if x.Caller != (addrs.AbsResourceInstance{}) {
			header += fmt.Sprintf(" (called from %s)", x.Caller)
		}
		out = append(out, header+"\n"+t.invocation(x))
	}
	return out
}

// actionsText returns a text about the number of actions to invoke. It follows the text about the objects to
// change; "" for no actions.
func actionsText(n counting.Counts) string {
	if n.Invoke == 0 {
		return ""
	}
	return fmt.Sprintf(" Actions: %d to invoke.", n.Invoke)
}

// invokedText returns a text about the numbers of actions that an apply has invoked, and how many of them
// failed. It follows the text about the objects changed; "" for no actions.
func invokedText(n counting.Counts) string {
	switch {
	case n.Invoke == 0:
		return ""
	case n.InvokeFailed > 0:
		return fmt.Sprintf(" Actions: %d invoked, %d failed.", n.Invoke, n.InvokeFailed)
	}
	return fmt.Sprintf(" Actions: %d invoked.", n.Invoke)
}

// actionMember is an action instance in the JSON messages of -json.
type actionMember struct {
	Addr     string `json:"addr"`
	Module   string `json:"module"`
	Action   string `json:"action"`
	Provider string `json:"implied_provider"`
	Type     string `json:"action_type"`
	Name     string `json:"action_name"`
	Key      any    `json:"action_key"`
}

func newActionMember(a addrs.AbsResourceInstance) *actionMember {
	r := newResourceMember(a)
	return &actionMember{r.Addr, r.Module, r.Resource, r.Provider, r.Type, r.Name, r.Key}
}

// invocationMember is a planned invocation in the JSON messages of -json.
type invocationMember struct {
	Action    *actionMember         `json:"action_addr"`
	Lifecycle *plannedTriggerMember `json:"lifecycle_trigger,omitempty"`
	Invoke    *struct{}             `json:"action_trigger,omitempty"`
}

type plannedTriggerMember struct {
	Resource  resourceMember   `json:"triggering_resource"`
	Event     config.Event     `json:"triggering_event"`
	Block     int              `json:"action_trigger_block_index"`
	Index     int              `json:"actions_list_index"`
	OnFailure config.OnFailure `json:"on_failure"`
	// Pending is set for an action that an earlier apply did not complete. Only Lockstep has this member.
	Pending bool `json:"pending,omitempty"`
}

// PlannedInvocationMessage returns the message about an action that will be invoked.
func PlannedInvocationMessage(x *plans.Invocation) Message {
	m := message("planned_action_invocation", "planned action invocation: "+x.Addr.Resource.String())
	m.Invocation = &invocationMember{Action: newActionMember(x.Addr)}
	if x.Event == "" {
		m.Invocation.Invoke = &struct{}{}
		return m
	}
	m.Invocation.Lifecycle = &plannedTriggerMember{newResourceMember(x.Caller), x.Event, x.Trigger, x.Index, x.OnFailure, x.Pending}
	return m
}

// triggerMember is the trigger of an action in the JSON messages of -json. It is part of the messages about
// an action in progress.
type triggerMember struct {
	Resource  resourceMember   `json:"resource"`
	Block     int              `json:"trigger_index"`
	Index     int              `json:"actions_index"`
	Event     config.Event     `json:"trigger_event"`
	OnFailure config.OnFailure `json:"on_failure"`
}

// invokeMessage returns the message about an action that is being invoked.
func invokeMessage(e events.Event) Message {
	x := e.Invocation
	h := &hookMember{Action: newActionMember(x.Addr)}
	started, prefix := "", ""
	if x.Event == "" {
		h.Invoke = &struct{}{}
	} else {
		h.Lifecycle = &triggerMember{newResourceMember(x.Caller), x.Trigger, x.Index, x.Event, x.OnFailure}
		started, prefix = fmt.Sprintf("%s.trigger[%d]: ", x.Caller, x.Trigger), fmt.Sprintf("%s (%d): ", x.Caller, x.Trigger)
	}
	var m Message
	switch e.Kind {
	case events.InvokeStart:
		m = message("action_start", started+"Action started: "+x.Addr.String())
	case events.InvokeProgress:
		m = message("action_progress", fmt.Sprintf("%s%s - %s", prefix, x.Addr, e.Text))
		h.Message = &e.Text
	case events.InvokeDone:
		m = message("action_complete", prefix+"Action complete: "+x.Addr.String())
	default:
		m = message("action_errored", fmt.Sprintf("%sAction errored: %s - %s", prefix, x.Addr, e.Text))
		h.Error = e.Text
	}
	m.Hook = h
	return m
}

// invokeLine returns a line for people about an action that is being invoked.
func (p *Printer) invokeLine(e events.Event) string {
	addr := e.Invocation.Addr.String()
	switch e.Kind {
	case events.InvokeStart:
		return p.in(bold, "Action started: "+e.Invocation.Addr.String()+callerNote(e.Invocation))
	case events.InvokeProgress:
		return p.in(bold, "Action "+addr+":") + " " + oneLine(visible(e.Text))
	case events.InvokeDone:
		return p.in(bold, p.in(green, "Action complete: "+addr+callerNote(e.Invocation)))
	}
	first, _, _ := strings.Cut(e.Text, "\n")
	return p.in(bold, p.in(red, "Action failed: "+addr+callerNote(e.Invocation)+" - "+visible(first)))
}

// oneLine returns a provider's message with its line breaks escaped, so that it stays on the line that begins
// with the name of the action.
func oneLine(s string) string {
	return strings.NewReplacer("\r\n", "\\n", "\n", "\\n", "\r", "\\r").Replace(s)
}

// callerNote returns a text that says why an action is invoked.
func callerNote(x *plans.Invocation) string {
	switch {
	case x.Event != "":
		return fmt.Sprintf(" (triggered by %s of %s)", x.Event, x.Caller)
	case x.Caller != (addrs.AbsResourceInstance{}):
		return fmt.Sprintf(" (called from %s)", x.Caller)
	}
	return ""
}
