package validating

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// action validates an action block. Any resource may be the action's caller, so the caller's value is
// unknown.
func (v *validator) action(ctx context.Context, m *config.Module, in addrs.ModuleInstance, r *config.Resource) Findings {
	cr := addrs.ConfigResource{Module: m.Addr, Resource: r.Addr}
	found := Findings{of: cr}
	p := m.ResourceProvider(r).Provider
	rs, _, ds := v.s.Schema(ctx, p, r.Addr, r.TypeRange.Ptr())
	if found.Others = ds; ds.HasErrors() {
		return found
	}
	instances, ds := v.eval.ResourceInstances(in, r)
	if found.Others = append(found.Others, ds...); ds.HasErrors() {
		return found
	}
	scope := eval.Scope{Module: in, Extra: map[string]cty.Value{"caller": cty.DynamicVal}}
	if len(instances) > 0 {
		scope.Instance = &instances[0]
	}
	val, ds := v.s.ResourceConfig(r, rs, scope)
	if marks.Any(val) && !ds.HasErrors() {
		ds = append(ds, v.s.Place(rs.Block.CheckEphemeral(val), r, rs, cr.String())...)
	}
	if found.Others = append(found.Others, ds...); ds.HasErrors() {
		return found
	}
	client, ds := v.in.Providers.Unconfigured(ctx, p)
	if found.Others = append(found.Others, ds...); ds.HasErrors() {
		return found
	}
	if answer := v.s.Place(client.ValidateAction(ctx, r.Addr.Type, marks.Plain(val)), r, rs, cr.String()); len(answer) > 0 {
		found.Answers = []Answer{{cr, answer}}
	}
	return found
}

// actionTriggers checks the action_trigger blocks of a resource: the keys of the actions that they name, and
// their conditions. ds has the errors. The plan shows the warnings; the apply does not show them again.
func (v *validator) actionTriggers(m *config.Module, in addrs.ModuleInstance, r *config.Resource, self cty.Type) (ds, warnings diags.Diagnostics) {
	if len(r.Triggers) == 0 {
		return nil, nil
	}
	scope := eval.Scope{Module: in}
	if instances, more := v.eval.ResourceInstances(in, r); !more.HasErrors() && len(instances) > 0 {
		scope.Instance = &instances[0]
	}
	for _, t := range r.Triggers {
		ds = append(ds, v.triggerCondition(r, t, self, scope)...)
		for _, x := range t.Actions {
			action, ok := refs.ActionOf(x)
			if !ok || m.Actions[action] == nil {
				continue // reported with the references
			}
			_, more := session.ActionInstance(m, x, scope)
			ds = append(ds, more...)
			for _, ref := range v.in.Refs.OfBlock(m.Actions[action]) {
				if refersTo(&ref, r) {
					warnings = append(warnings, diags.Warningf(ref.Range().Ptr(), "Reference to triggering resource",
						"%s refers to %s, which triggers it. Refer to the instance that triggers it as \"caller\" instead: by its name, an action that is invoked before a change sees no object, or the old one.", action, r.Addr)...)
				}
			}
		}
	}
	return ds, warnings.Distinct()
}

// triggerCondition checks the condition of a trigger as far as that is possible.
func (v *validator) triggerCondition(r *config.Resource, t *config.Trigger, self cty.Type, scope eval.Scope) diags.Diagnostics {
	if t.Condition == nil {
		return nil
	}
	for _, ref := range v.in.Refs.OfExpr(t.Condition) {
		if refersTo(&ref, r) {
			return diags.Errorf(ref.Range().Ptr(), "Self-referential block", "The condition of a trigger of %s cannot refer to the resource by its name. Use self for the instance.", r.Addr)
		}
	}
	for _, e := range t.Events {
		if e == config.BeforeCreate && usesSelf(t.Condition) {
			return diags.Errorf(t.Condition.Range().Ptr(), "Reference to self in before_create condition",
				"There is no object before the creation. Refer to the values that the object is made of, or use the event after_create.")
		}
	}
	scope.Self = cty.UnknownVal(self)
	return v.s.TriggerHolds(t, scope).Diags
}

func refersTo(ref *refs.Reference, r *config.Resource) bool {
	return ref.Object.Kind == addrs.KindResource && ref.Object.Res == r.Addr
}

func usesSelf(x hcl.Expression) bool {
	for _, t := range x.Variables() {
		if t.RootName() == "self" {
			return true
		}
	}
	return false
}
