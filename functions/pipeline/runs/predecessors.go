package runs

import (
	"maps"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/project/order"
)

// PredecessorsOf returns a function that returns what must be applied before a run of an open pull request. For
// a run that the merge applies, the function uses the order after the merge. If o is nil, the function returns
// nil.
func (o *Order) PredecessorsOf() func(r Run) *comment.Behind {
	if o == nil {
		return func(Run) *comment.Behind { return nil }
	}
	edges, landed := o.Edges(), o.landed()
	return func(r Run) *comment.Behind {
		if r.ByMerge() {
			return landed.predecessors(r, edges)
		}
		return o.predecessors(r, edges)
	}
}

// Predecessors returns what must be applied before a run, in a form for people. It returns nil if nothing must
// be applied before. landed is set for the order after the merge of the pull request.
func (o *Order) Predecessors(r Run, landed bool) *comment.Behind {
	if o == nil {
		return nil
	}
	edges := o.Edges()
	if landed {
		o = o.landed()
	}
	return o.predecessors(r, edges)
}

func (o *Order) predecessors(r Run, edges order.Edges) *comment.Behind {
	if cycle := order.Cycle(order.Around(edges, r.Project)); cycle != nil {
		return &comment.Behind{Cycle: cycle}
	}
	on, left, again := o.before(r, edges)
	if len(on) == 0 {
		return nil
	}
	return &comment.Behind{On: on, Left: left, Again: again, OnMerge: o.onMerge(left), Once: o.afterMergeOnly(left), Destroys: destroys(r)}
}

// landed returns the order after the merge of the pull request. In this order, all applies that the merge
// starts count as coming.
func (o *Order) landed() *Order {
	out := *o
	out.Coming = maps.Clone(o.Coming)
	for name := range o.landing {
		out.Coming[name] = out.Coming[name] || o.landing[name]
	}
	return &out
}
