package planning

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// relevant returns the attributes that had an influence on the planned changes: a plan shows only
// the differences from the state that may explain a change.
//
// Refreshing finds differences all the time that nobody cares about: a time of last access, a counter.
// All of them are in the plan's JSON. In its text only those help that a planned change
// refers to, directly or through local values and modules. The search for these references is package
// relevance; this file collects its starting points, which are the changed resources and outputs.
func (p *planner) relevant(ctx context.Context, outputs []*plans.OutputChange) []plans.RelevantAttribute {
	ctx = context.WithoutCancel(ctx) // an interrupted plan has its relevant attributes, too
	return relevantAttributes(relevanceInput{
		Config: p.in.Config, Refs: p.in.Refs,
		Resources: p.changedResources(), Expressions: p.changedOutputs(outputs),
		Schema: func(m *config.Module, r *config.Resource) *schema.Schema {
			rs, _, ds := p.s.Schema(ctx, m.ResourceProvider(r).Provider, r.Addr, nil)
			if ds.HasErrors() {
				return nil
			}
			return rs
		},
		Bound: p.s.Bound,
	})
}

// changedResources returns the resources with changes, in order of their first change. A destroy takes away its data sources as
// well, without a change of their own.
func (p *planner) changedResources() []addrs.AbsResource {
	var out []addrs.AbsResource
	changes, _ := p.changes.Sorted()
	seen := map[addrs.AbsResource]bool{}
	add := func(abs addrs.AbsResource) {
		if !seen[abs] {
			seen[abs] = true
			out = append(out, abs)
		}
	}
	for _, c := range changes {
		if c.Action != plans.NoOp {
			add(c.Addr.Instance.AbsResource())
		}
	}
	if p.in.Mode == plans.DestroyMode {
		for abs := range p.prior.State().Resources() {
			if abs.Resource.Mode == addrs.Data && p.selected.hasBlock(abs.Config()) {
				add(abs)
			}
		}
	}
	return out
}

// changedOutputs returns the expressions of changed outputs. Outside of the root module every
// output counts that is not null, since its last value is not stored.
func (p *planner) changedOutputs(changes []*plans.OutputChange) []relevantExpression {
	var out []relevantExpression
	for _, c := range changes {
		if o := p.in.Config.Root.Outputs[c.Name]; o != nil && c.Action != plans.NoOp {
			out = append(out, relevantExpression{Expr: o.Expr})
		}
	}
	if p.in.Mode == plans.DestroyMode {
		return out
	}
	for _, m := range p.in.Config.Order {
		if m.Parent == nil || len(m.Outputs) == 0 {
			continue
		}
		ins, _ := p.s.Eval.Modules(m)
		for _, in := range ins {
			for name, o := range m.Outputs {
				if p.unselected(addrs.Object{Module: m.Addr, Kind: addrs.KindOutput, Name: name}) {
					continue
				}
				if v, ds := p.s.Eval.Output(in, name); !ds.HasErrors() && !v.IsNull() {
					out = append(out, relevantExpression{Module: in, Expr: o.Expr})
				}
			}
		}
	}
	return out
}
