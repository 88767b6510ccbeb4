package runs

import (
	"cmp"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/project/order"
)

// An apply that has to come behind those of other projects of its pull request is accepted before its time:
// it waits in the record of its run ([Waiting]), and is queued once the last of the others is applied. It is
// refused instead where nobody is about to apply one of them, so that nothing waits for ever: each apply that others
// wait for is under way, or waits itself, and no project waits for itself.

// A plan that destroys a project, since the pull request removes it or somebody wants that, turns the order round: it comes
// behind those of the projects that depend on it, and no other one comes behind it. So nothing is taken away from a
// project that still needs it, and one that stops to need it is applied before. Where somebody wants that and there is no such plan that waits for its
// apply, since it is not made yet, has failed, or is applied, those that depend on the project wait for the change that it has taken the place of.

// An Order is the facts about the order in which the projects of a pull request are applied.
type Order struct {
	// Base and Head are the projects that a project depends on, by the settings of the base branch and of the head. Was
	// are those by the last commits of the base branch that had the projects which a merge has removed.
	Base, Head, Was order.Edges
	// Progress is that of the projects of the pull request, by name. Coming are those whose applies are
	// under way, or accepted.
	Progress map[string]order.Progress
	Coming   map[string]bool
	// Destroyed and Ending are the same of those whose plans destroy them.
	Destroyed map[string]order.Progress
	Ending    map[string]bool
	// undone are those that the pull request changes and that a plan with -destroy has taken the place of the change of, without being
	// one that waits for its apply: nothing of the change is applied.
	undone map[string]order.Progress
	// landing are the projects whose plans the merge applies; merging are those that no comment applies before it.
	landing, merging map[string]bool
	// once are those whose plans nobody can apply before the merge.
	once map[string]bool
}

// NewOrder returns an order without projects.
func NewOrder() *Order {
	return &Order{Progress: map[string]order.Progress{}, Coming: map[string]bool{}, Destroyed: map[string]order.Progress{}, Ending: map[string]bool{}, undone: map[string]order.Progress{}, landing: map[string]bool{}, merging: map[string]bool{}, once: map[string]bool{}}
}

// destroys reports whether a run's plan is to destroy its project.
func destroys(r Run) bool { return r.Spec.Removed || r.Spec.Options.Destroy }

// Edges are those that hold: see [order.Union]. A project that the pull request does not change, and whose edges in
// the head are all gone, may be gone itself.
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

// Add adds the run of a project to the facts. head is the head of the pull request: a plan of another
// one is none of it.
func (o *Order) Add(r Run, head string) {
	if r.Spec.Head != head || r.Phase == Superseded {
		return
	}
	name := cmp.Or(r.End.Renamed, r.Project)
	done := func(p order.Progress) bool { return p == order.Applied || p == order.Unchanged }
	p, all, coming := r.progress(), o.Progress, o.Coming
	if r.End.Renamed != "" && !done(p) { // whatever it has, the project has to be planned by its other name
		p = order.Failed
	}
	if destroys(r) {
		all, coming = o.Destroyed, o.Ending
	}
	o.addMerge(name, r)
	o.once[name] = o.once[name] || r.Standing() == comment.OnceMerged
	// A project of several workspaces is done when all of them are.
	was, other := all[name]
	switch {
	case !other || done(was):
		all[name], coming[name] = p, r.coming()
	case !done(p):
		coming[name] = coming[name] && r.coming()
	}
}

// addMerge adds what the merge does with the run of a project.
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
	tried := r.Phase == Dropped || r.Phase.UnderWay() || r.Phase.Ended() // by the merge, or before the base branch left it to that
	if r.ByMerge() && !tried {
		o.merging[name] = true
	}
}

// before returns the projects whose applies come before that of a run and are not done, those of them that nobody is about
// to apply, and of the latter those that have to be planned again.
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

// onMerge returns those of some projects that the merge alone applies.
func (o *Order) onMerge(names []string) (out []string) {
	for _, n := range names {
		if o.merging[n] {
			out = append(out, n)
		}
	}
	return out
}

// unique are names in their order, each once.
func unique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// merged reports whether one of some projects is applied after the merge alone.
func (o *Order) merged(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return o.once[n] })
}

// InTurn compares two runs by the order of their applies. ranks are those of [order.Ranks]; nil where there is no order.
func InTurn(ranks map[string]int, a, b Run) int {
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

// progress is how far the run's project is.
func (r Run) progress() order.Progress {
	if r.End.FinishedBy != 0 {
		return order.Applied
	}
	phase := r.Phase
	if phase == Dropped {
		phase = r.End.Was
	}
	// Such a plan leaves out changes of the pull request: without changes, and applied, they are still to be done.
	part := (r.Spec.Options.Partial() || r.Spec.Options.RefreshOnly || len(r.Plan.Doubts) > 0) && !r.Spec.Beside && !r.Plan.Upheld
	switch phase {
	case PlanFailed:
		if Stands(r) && !destroys(r) {
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

// coming reports whether the apply of a run is under way, accepted, or requested together with its plan.
func (r Run) coming() bool {
	return r.Phase.UnderWay() || r.Asked.ThenApply == r.Asked.Try+1 && r.Phase != Dropped
}

// A Waiting is an apply that is accepted, and waits for those of other projects. Its number is ThenApply, as
// that of one that waits for its plan.
type Waiting struct {
	// For is the event that requested it, By the login of the user behind that, and Answer names the answer
	// that waits for the result.
	For, By string
	Answer  string `json:",omitempty"`
	// Plan is the hash of the plan: no other one is applied.
	Plan string
	// On are the projects that it waits for, as people were told.
	On []string
	// Woken is the message that has queued it, "" as long as it waits.
	Woken string `json:",omitempty"`
}

// Waiting reports whether an apply of the run is accepted, and waits for those of other projects.
func (r Run) Waiting() bool {
	return r.Asked.Waits != nil && r.Asked.Waits.Woken == "" && (r.Phase == Planned || r.Phase == Stopped) && r.Asked.ThenApply == r.Asked.Try+1
}

// Await returns the run with an apply that waits.
func (r Run) Await(w Waiting) Run {
	r.Asked.ThenApply, r.Asked.Waits = r.Asked.Try+1, &w
	return r
}

// Wake returns the run with the apply that has waited queued, by a message.
func (r Run) Wake(message string) Run {
	w := *r.Asked.Waits
	w.Woken = message
	r = r.To(ApplyQueued)
	r.Asked.Try++
	r.Asked.ApplyFor, r.Asked.By, r.Asked.Answer, r.Asked.Waits = w.For, w.By, w.Answer, &w
	return r
}

// GiveUp returns the run without the apply that has waited. Its number is spent.
func (r Run) GiveUp() Run {
	r.Asked.Try++
	r.Asked.Waits = nil
	return r
}
