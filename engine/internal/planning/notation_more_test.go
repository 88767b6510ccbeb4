package planning_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// more describes what most stories are not about:
//
//	instances    the instance keys of resources and module calls
//	state        the objects of the prior state, with everything that is stored with them, and its
//	             outputs
//	values       the values of changes before and after, with their providers and private data
//	calls        the calls of the provider t, in their order
//	events       the events, sorted
//	details      the details of the diagnostics
func (s *story) more(t *testing.T, what string, p *plans.Plan) (out []string) {
	switch what {
	case "instances":
		for abs, keys := range p.Instances.Resources {
			out = append(out, fmt.Sprintf("instances %s: %v", abs, keys))
		}
		for call, keys := range p.Instances.Calls {
			out = append(out, fmt.Sprintf("calls %s %s: %v", call.Module, call.Call, keys))
		}
		slices.Sort(out)
	case "state":
		out = inState(p.PriorState)
	case "values":
		for _, c := range slices.Concat(p.Drift, p.Changes) {
			out = append(out, fmt.Sprintf("%s of %s: %s -> %s private %q cbd %v deps %s", name(c.Addr), c.Provider, short(c.Decoded().Before), short(c.Decoded().After), c.Private, c.CreateBeforeDestroy, list(c.StoredDeps)))
		}
		for _, o := range p.Outputs {
			out = append(out, fmt.Sprintf("output.%s: %s -> %s", o.Name, short(o.Before), short(o.After)))
		}
	case "calls":
		out = s.fake.Calls()
	case "events":
		slices.Sort(s.events)
		out = s.events
	case "details":
		for _, d := range s.found {
			out = append(out, fmt.Sprintf("%q", d.Detail))
		}
	default:
		t.Fatalf("-show of %q", what)
	}
	return out
}

func inState(st *states.State) (out []string) {
	for abs, r := range st.Resources() {
		for k, in := range r.Instances {
			all := maps.Clone(in.Deposed)
			if all == nil {
				all = map[addrs.DeposedKey]*states.Object{}
			}
			if in.Current != nil {
				all[addrs.NotDeposed] = in.Current
			}
			for key, o := range all {
				line := fmt.Sprintf("state %s of %s %c %s private %q cbd %v deps %s sensitive%s",
					name(addrs.ResourceInstanceObject{Instance: abs.Instance(k), Deposed: key}), r.ProviderOf(k), o.Status, o.AttrsJSON, o.Private, o.CreateBeforeDestroy, list(o.Dependencies), paths(o.Sensitive))
				for member := range o.Extra {
					line += " and " + member
				}
				out = append(out, line)
			}
		}
	}
	for name, o := range st.Outputs() {
		out = append(out, fmt.Sprintf("state output.%s %s sensitive %v", name, short(o.Value), o.Sensitive))
	}
	slices.Sort(out)
	return out
}

func list(deps *states.Dependencies) string {
	if deps == nil {
		return "nil"
	}
	return fmt.Sprint(deps.All())
}

// event takes in an event of the planning.
func (s *story) event(e events.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := map[events.Kind]string{events.RefreshStart: "refresh", events.RefreshDone: "refreshed", events.ApplyStart: "start", events.ApplyDone: "done", events.ImportStart: "import", events.Planned: "planned", events.EphemeralStart: "begin", events.EphemeralDone: "end"}[e.Kind]
	line := "event " + kind + " " + name(e.Addr)
	if e.Action != 0 {
		line += " " + e.Action.String()
	}
	s.events = append(s.events, strings.TrimSpace(line+" "+e.ID))
}

// short is a text of a value, without nulls in objects: "?" is unknown, "*" sensitive.
func short(v cty.Value) string {
	plain, with := v.Unmark()
	text := "?"
	switch ty := plain.Type(); {
	case !plain.IsKnown():
	case plain.IsNull():
		text = "null"
	case ty == cty.String:
		text = plain.AsString()
	case ty.IsObjectType():
		var attrs []string
		for name, a := range plain.AsValueMap() {
			if inner, _ := a.Unmark(); !inner.IsKnown() || !inner.IsNull() || a.IsMarked() {
				attrs = append(attrs, name+"="+short(a))
			}
		}
		slices.Sort(attrs)
		text = "{" + strings.Join(attrs, " ") + "}"
	default:
		text = fmt.Sprintf("%#v", plain)
	}
	if len(with) > 0 {
		text = "*" + text
	}
	return text
}
