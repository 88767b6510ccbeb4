package planning

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// relevant returns the attributes that influenced the planned changes. A plan shows only the drift that may
// explain a change.
//
// Refreshing always finds differences that do not matter: a time of last access, a counter. The plan's JSON
// has all of them. Its text shows only those that a planned change refers to, directly or through local
// values and modules. relevance.go searches for these references. This file collects the changed resources
// and outputs from which the search starts.
func (p *planner) relevant(ctx context.Context, outputs []*plans.OutputChange) []plans.RelevantAttribute {
	ctx = context.WithoutCancel(ctx) // an interrupted plan needs its relevant attributes, too
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

// changedResources returns the resources with changes, in the order of their first change. A destroy also
// removes its data sources, which have no change of their own.
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

// changedOutputs returns the expressions of changed outputs. Outside the root module, every output that is
// not null counts, since its previous value is not stored.
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
