package admission

import (
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// Waits reports whether an apply may be accepted, though not be done yet: nothing speaks against it but
// other projects whose applies come first, and which are coming. on are their names.
func (d Decision) Waits() (on []string, ok bool) {
	if len(d.Reasons) != 1 {
		return nil, false
	}
	w, ok := d.Reasons[0].(reasons.Awaits)
	return w.On, ok
}

// Held is the same for an apply that a merge has asked for, and that nothing speaks against but requirements, or a lock, that come
// to an end by the clock or by people, and maybe such projects. The reasons are those for which it waits, besides the projects.
func (d Decision) Held() (held Decision, on []string, ok bool) {
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

// awaited are the rules for an apply that waits, besides inOrder. All others are asked when it is done.
var awaited = []func(*Request) reasons.Reason{occasion, phase, headMoved, planReplaced}

// Awaited decides about an apply that waits: it waits on ([Decision.Waits]), can be queued, or is over.
func Awaited(q Request) Decision {
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

// planReplaced holds that the plan is the one that the apply was accepted for.
func planReplaced(q *Request) reasons.Reason {
	if q.Run.Plan.Hash == q.Named {
		return nil
	}
	if q.merged() {
		return reasons.PlanRenewed{Project: q.Run.Project, Plan: q.Run.Plan.Hash, Merged: true}
	}
	return reasons.OtherPlan{Project: q.Run.Project, Named: q.Named, Plan: q.Run.Plan.Hash}
}

// inOrder holds that the projects that this one depends on are applied, as far as the pull request changes
// them; or those that depend on it, where it is destroyed.
func inOrder(q *Request) reasons.Reason {
	name, b := q.Run.Project, q.Order.Predecessors(q.Run, q.later())
	switch {
	case b == nil:
		return nil
	case b.Cycle != nil:
		return reasons.InCycle{Projects: b.Cycle}
	case len(b.Left) > 0:
		return reasons.OutOfOrder{Project: name, Left: b.Left, Again: b.Again, Destroys: b.Destroys, Removed: q.Run.Spec.Removed, Merged: q.merged(), Later: q.later(), OnMerge: b.OnMerge, Once: b.Once}
	case q.later():
		return nil
	}
	return reasons.Awaits{Project: name, On: b.On, Destroys: b.Destroys}
}
