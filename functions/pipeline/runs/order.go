package runs

import (
	"cmp"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/project/order"
)

// Some applies must come after the applies of other projects of the same pull request. For example, app depends
// on network. Such an apply is accepted early: it waits in the record of its run ([Waiting]), and is queued
// once the last of the others is applied.
//
// No apply waits for ever: if one of the others is not about to be applied, the apply is refused. An apply that
// others wait for is queued, in progress, or waits itself, and no project waits for itself.

// A plan that destroys a project reverses the order. Such a plan exists if the pull request removes the
// project, or if somebody requested -destroy. Its apply comes after the applies of the projects that depend on
// the project, and no other apply waits for it. So no project loses what it still needs. A project that stops
// needing the destroyed project is applied first.
//
// A plan with -destroy replaces the plan of the pull request's change to the project. The plan with -destroy
// may be not made yet, failed, or already applied. In each of these cases, the projects that depend on this
// one still wait for the replaced change.

// An Order has the facts about the order in which the projects of a pull request are applied.
type Order struct {
	// Base and Head are the projects that each project depends on, by the settings of the base branch and of
	// the head. Was are the dependencies of projects that a merge has removed, by the last commits of the base
	// branch that had them.
	Base, Head, Was order.Edges
	// Progress is the progress of the pull request's projects, by name. Coming has the projects whose applies
	// are queued, in progress, or accepted.
	Progress map[string]order.Progress
	Coming   map[string]bool
	// Destroyed and Ending are like Progress and Coming, for the projects whose plans destroy them.
	Destroyed map[string]order.Progress
	Ending    map[string]bool
	// undone are projects with a change that is not applied, because a plan with -destroy has replaced the plan
	// of the change. The plan with -destroy is not about to be applied itself.
	undone map[string]order.Progress
	// landing are the projects whose plans the merge applies. merging are the projects that no comment can
	// apply before the merge.
	landing, merging map[string]bool
	// once are the projects whose plans can be applied only after the merge, because the base branch has the
	// state under another name.
	once map[string]bool
}

// NewOrder returns an order without projects.
func NewOrder() *Order {
	return &Order{Progress: map[string]order.Progress{}, Coming: map[string]bool{}, Destroyed: map[string]order.Progress{}, Ending: map[string]bool{}, undone: map[string]order.Progress{}, landing: map[string]bool{}, merging: map[string]bool{}, once: map[string]bool{}}
}

// destroys reports whether a run's plan destroys its project.
func destroys(r Run) bool { return r.Spec.Removed || r.Spec.Options.Destroy }

// Edges returns the dependencies that count: see [order.Union]. A project counts as removed if the pull request
// has no run of the project and the head names the project in no dependency. The dependencies of a removed
// project do not count.
func (o *Order) Edges() order.Edges {
	named := map[string]bool{}
	for from, all := range o.Head {
		named[from] = true
		for _, to := range all {
			named[to] = true
		}
	}
	return order.Union(o.Base, o.Head, func(name string) bool {
		_, planned := o.Progress[name]
		_, destroyed := o.Destroyed[name]
		return planned || destroyed || named[name]
	})
}

// Add adds the run of a project to the facts. head is the head of the pull request. Add ignores a run of
// another head.
func (o *Order) Add(r Run, head string) {
	if r.Spec.Head != head || r.Phase == Superseded {
		return
	}
	name := cmp.Or(r.End.Renamed, r.Project)
	done := func(p order.Progress) bool { return p == order.Applied || p == order.Unchanged }
	p, all, coming := r.progress(), o.Progress, o.Coming
	if r.End.Renamed != "" && !done(p) { // the project has to be planned under its new name, whatever its present plan
		p = order.Failed
	}
	if destroys(r) {
		all, coming = o.Destroyed, o.Ending
	}
	o.addMerge(name, r)
	o.once[name] = o.once[name] || r.Standing() == comment.OnceMerged
	// A project with several workspaces is done when all of them are done.
	was, other := all[name]
	switch {
	case !other || done(was):
		all[name], coming[name] = p, r.coming()
	case !done(p):
		coming[name] = coming[name] && r.coming()
	}
}

// addMerge adds what the merge will do with the run of a project.
func (o *Order) addMerge(name string, r Run) {
	if destroys(r) {
		waits := r.Phase == Planned || r.Phase == Dropped && r.End.Was == Planned
		if !waits && !r.Spec.Removed && !r.Spec.Beside && !r.Plan.Upheld {
			o.undone[name] = order.Failed
		}
		return
	}
	landing, other := o.landing[name]
	o.landing[name] = lands(r) && (landing || !other)
	// Either the merge has tried the apply, or somebody did, before the base branch left applies to the merge.
	tried := r.Phase == Dropped || r.Phase.UnderWay() || r.Phase.Ended()
	if r.ByMerge() && !tried {
		o.merging[name] = true
	}
}

// before returns three lists of projects. on are the projects whose applies come before that of a run and are
// not done. left are those projects of on whose applies are neither accepted nor in progress. again are those
// projects of left that must be planned again.
func (o *Order) before(r Run, edges order.Edges) (on, left, again []string) {
	add := func(names []string, all map[string]order.Progress, coming map[string]bool) {
		for _, n := range names {
			on = append(on, n)
			if coming[n] {
				continue
			}
			if left = append(left, n); all[n] == order.Failed {
				again = append(again, n)
			}
		}
	}
	if !destroys(r) {
		add(order.Waits(edges, o.Progress, r.Project), o.Progress, o.Coming)
		add(order.Waits(edges, o.undone, r.Project), o.undone, nil)
		return unique(on), unique(left), unique(again)
	}
	edges = order.Union(o.Was, edges, func(string) bool { return true })
	add(order.Dependents(edges, o.Progress, r.Project), o.Progress, o.Coming)
	add(order.Dependents(edges, o.Destroyed, r.Project), o.Destroyed, o.Ending)
	return unique(on), unique(left), unique(again)
}

// onMerge returns the projects among names that only the merge applies.
func (o *Order) onMerge(names []string) (out []string) {
	for _, n := range names {
		if o.merging[n] {
			out = append(out, n)
		}
	}
	return out
}

// unique returns the names sorted, each once.
func unique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// afterMergeOnly reports whether one of the projects can be applied only after the merge.
func (o *Order) afterMergeOnly(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return o.once[n] })
}

// CompareByOrder compares two runs by the order of their applies. ranks come from [order.Ranks]; nil means that
// there is no order.
func CompareByOrder(ranks map[string]int, a, b Run) int {
	first := cmp.Compare(ranks[a.Project], ranks[b.Project])
	switch {
	case ranks == nil:
		return 0
	case !destroys(a) && !destroys(b):
		return first
	case destroys(a) && destroys(b):
		return -first
	case destroys(a):
		return 1
	}
	return -1
}

// progress returns how much of the run's project is planned and applied.
func (r Run) progress() order.Progress {
	if r.End.FinishedBy != 0 {
		return order.Applied
	}
	phase := r.Phase
	if phase == Dropped {
		phase = r.End.Was
	}
	// A partial plan leaves out changes of the pull request. These changes must still be applied, even if the
	// partial plan has no changes or is applied.
	part := (r.Spec.Options.Partial() || r.Spec.Options.KeepsObjects() || len(r.Plan.Doubts) > 0) && !r.Spec.Beside && !r.Plan.Upheld
	switch phase {
	case PlanFailed:
		if KeepsOutcome(r) && !destroys(r) {
			return order.Unchanged
		}
		return order.Failed
	case Planned:
		switch {
		case r.Plan.Applyable:
			return order.Pending
		case part:
			return order.Failed
		}
		return order.Unchanged
	case Applied:
		if part {
			return order.Failed
		}
		return order.Applied
	case ApplyQueued, Applying, Continuing, Stopped:
		return order.Pending
	case Stale, ApplyFailed:
		return order.Failed
	}
	return order.Unknown
}

// coming reports whether the apply of a run is queued or in progress, accepted, or requested together with its
// plan.
func (r Run) coming() bool {
	return r.Phase.UnderWay() || r.Asked.ThenApply == r.Asked.Try+1 && r.Phase != Dropped
}

// A Waiting is an apply that is accepted and waits for the applies of other projects. Its number is
// [Asked.ThenApply], as for an apply that waits for its plan.
type Waiting struct {
	// For is the event that requested the apply. By is the login of the user behind the event. Answer names the
	// answer that waits for the result.
	For, By string
	Answer  string `json:",omitempty"`
	// Plan is the hash of the plan. No other plan is applied.
	Plan string
	// On are the projects that the apply waits for. The answer to the person who requested the apply has named
	// these projects.
	On []string
	// Woken is the ID of the message that has queued the apply; "" while the apply waits.
	Woken string `json:",omitempty"`
}

// Waiting reports whether an apply of the run is accepted and waits for the applies of other projects.
func (r Run) Waiting() bool {
	return r.Asked.Waits != nil && r.Asked.Waits.Woken == "" && (r.Phase == Planned || r.Phase == Stopped) && r.Asked.ThenApply == r.Asked.Try+1
}

// WithWaiting returns the run with the accepted apply w, which waits.
func (r Run) WithWaiting(w Waiting) Run {
	r.Asked.ThenApply, r.Asked.Waits = r.Asked.Try+1, &w
	return r
}

// QueueWaiting returns the run with its waiting apply queued. message is the ID of the message that queued it.
func (r Run) QueueWaiting(message string) Run {
	w := *r.Asked.Waits
	w.Woken = message
	r = r.To(ApplyQueued)
	r.Asked.Try++
	r.Asked.ApplyFor, r.Asked.By, r.Asked.Answer, r.Asked.Waits = w.For, w.By, w.Answer, &w
	return r
}

// WithoutWaiting returns the run without its waiting apply. The number of that apply is not used again.
func (r Run) WithoutWaiting() Run {
	r.Asked.Try++
	r.Asked.Waits = nil
	return r
}
