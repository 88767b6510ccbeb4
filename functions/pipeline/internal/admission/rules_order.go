package admission

import (
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// WaitsForProjects reports whether an apply can be accepted now and then wait. It can if the only reason
// against it is that other projects must be applied first, and their applies are queued or in progress. on are
// the names of these projects.
func (d Decision) WaitsForProjects() (on []string, ok bool) {
	if len(d.Reasons) != 1 {
		return nil, false
	}
	w, ok := d.Reasons[0].(reasons.Awaits)
	return w.On, ok
}

// WaitsAfterMerge reports whether an apply that a merge requested can wait. It can if the only reasons against
// it are requirements that can still be met, a person's lock, and projects that must be applied first. on are
// the names of these projects. held has the reasons without the projects.
func (d Decision) WaitsAfterMerge() (held Decision, on []string, ok bool) {
	for _, r := range d.Reasons {
		switch no := r.(type) {
		case reasons.Awaits:
			on = no.On
			continue
		case reasons.Required:
			if !no.Merged || !no.Tree.MayCome() {
				return d, nil, false
			}
			no.Waits, ok = true, true
			r = no
		case reasons.LockedByAnother:
			if !no.Merged {
				return d, nil, false
			}
			no.Waits, ok = true, true
			r = no
		default:
			return d, nil, false
		}
		held.Reasons = append(held.Reasons, r)
	}
	return held, on, ok
}

// awaited are the rules for an apply that waits, in addition to [inOrder]. All other rules are checked when the
// apply no longer waits.
var awaited = []func(*Request) reasons.Reason{occasion, phase, headMoved, planReplaced}

// DecideWaiting decides about an accepted apply that waits. If the decision allows it, the apply can be queued.
// If [Decision.WaitsForProjects] is true for the decision, the apply continues to wait. Any other reason ends
// the wait.
func DecideWaiting(q Request) Decision {
	var d Decision
	w := q.Run.Asked.Waits
	q.Named, q.Run.Asked.Waits = w.Plan, nil
	for _, no := range awaited {
		if r := no(&q); r != nil {
			d.Reasons = append(d.Reasons, r)
		}
	}
	if r := inOrder(&q); r != nil && d.Allowed() {
		d = Refusal(r)
	}
	return d
}

// planReplaced refuses if the plan is not the one for which the apply was accepted.
func planReplaced(q *Request) reasons.Reason {
	if q.Run.Plan.Hash == q.Named {
		return nil
	}
	if q.merged() {
		return reasons.PlanRenewed{Project: q.Run.Project, Plan: q.Run.Plan.Hash, Merged: true}
	}
	return reasons.OtherPlan{Project: q.Run.Project, Named: q.Named, Plan: q.Run.Plan.Hash}
}

// inOrder refuses as long as projects on which this one depends are changed by the pull request and not
// applied. If the plan destroys this project, it refuses until the projects that depend on it are applied.
func inOrder(q *Request) reasons.Reason {
	name, b := q.Run.Project, q.Order.Predecessors(q.Run, q.asksForMerge())
	switch {
	case b == nil:
		return nil
	case b.Cycle != nil:
		return reasons.InCycle{Projects: b.Cycle}
	case len(b.Left) > 0:
		return reasons.OutOfOrder{Project: name, Left: b.Left, Again: b.Again, Destroys: b.Destroys, Removed: q.Run.Spec.Removed, Merged: q.merged(), Later: q.asksForMerge(), OnMerge: b.OnMerge, Once: b.Once}
	case q.asksForMerge():
		return nil
	}
	return reasons.Awaits{Project: name, On: b.On, Destroys: b.Destroys}
}
