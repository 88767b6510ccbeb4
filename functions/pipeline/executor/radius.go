package executor

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/blastradius"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/functions/comment"
)

// radius returns what depends on the changes of a plan. It is empty for a plan that destroys and replaces nothing
// and has no risks: people need no warning then. hide removes secrets.
func (o *checkout) radius(p *plans.Plan, found []comment.Risk, hide *secrets) comment.Radius {
	if len(found) == 0 && !slices.ContainsFunc(p.Changes, (*plans.ResourceChange).Destroys) {
		return comment.Radius{}
	}
	r := blastradius.Of(p)
	out := comment.Radius{Objects: r.Objects, Readers: o.job.Readers}
	if len(r.Nodes) > comment.MaxRadiusNodes {
		return out
	}
	out.Edges = r.Reduced()
	for _, n := range r.Nodes {
		x := comment.RadiusNode{Name: hide.From(n.Resource.String()), Objects: n.Objects}
		if n.Action != plans.NoOp {
			x.Action = n.Action.String()
		}
		out.Nodes = append(out.Nodes, x)
	}
	return out
}
