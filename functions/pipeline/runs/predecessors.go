package runs

import (
	"maps"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/project/order"
)

// Behinds returns a function that tells what comes before the apply of a run, for people: nil where nothing does.
func (o *Order) Behinds() func(r Run) *comment.Behind {
	if o == nil {
		return func(Run) *comment.Behind { return nil }
	}
	edges, landed := o.Edges(), o.landed()
	return func(r Run) *comment.Behind {
		if r.ByMerge() {
			return landed.behind(r, edges)
		}
		return o.behind(r, edges)
	}
}

// Behind is what comes before the apply of a run, once the pull request is merged where landed is set; nil where nothing does.
func (o *Order) Behind(r Run, landed bool) *comment.Behind {
	if o == nil {
		return nil
	}
	edges := o.Edges()
	if landed {
		o = o.landed()
	}
	return o.behind(r, edges)
}

func (o *Order) behind(r Run, edges order.Edges) *comment.Behind {
	if cycle := order.Cycle(order.Around(edges, r.Project)); cycle != nil {
		return &comment.Behind{Cycle: cycle}
	}
	on, left, again := o.before(r, edges)
	if len(on) == 0 {
		return nil
	}
	return &comment.Behind{On: on, Left: left, Again: again, OnMerge: o.onMerge(left), Once: o.merged(left), Destroys: destroys(r)}
}

// landed is the order once the pull request is merged: the applies of all plans that the merge applies are coming.
func (o *Order) landed() *Order {
	out := *o
	out.Coming = maps.Clone(o.Coming)
	for name := range o.landing {
		out.Coming[name] = out.Coming[name] || o.landing[name]
	}
	return &out
}
