package gatefacts

import (
	"context"
	"errors"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/order"
	"github.com/lockstep-iac/lockstep/github"
)

// Ordered returns the order of applies in the pull request of a run. It returns nil if neither the head nor the
// base branch has dependencies.
func (e *Reader) Ordered(ctx context.Context, r runs.Run) (*runs.Order, error) {
	if some, err := orders(ctx, e, r); err != nil || !some {
		return nil, err
	}
	return e.Order(ctx)
}

// orders reports whether projects in the pull request of a run depend on each other.
func orders(ctx context.Context, e *Reader, r runs.Run) (bool, error) {
	in, err := e.requirements(ctx)
	return err == nil && (r.Spec.Ordered || r.Spec.Removed && e.Pull.Merged || in.settings.Orders()), err
}

// Predecessors returns the projects that must be applied before a run, to show them to people. No decision
// depends on the result. So Predecessors ignores an error that only a person can fix: whoever requests the
// apply will see that error.
func Predecessors(ctx context.Context, e *Reader, r runs.Run) (*comment.Behind, error) {
	return (&OrderCache{Facts: e}).Predecessors(ctx, r)
}

// An OrderCache reads the order of the pull request's applies only once, for several runs.
type OrderCache struct {
	Facts  *Reader
	behind func(runs.Run) *comment.Behind // nil before the order is read
}

// Predecessors is like the function [Predecessors], but reads the order only once.
func (l *OrderCache) Predecessors(ctx context.Context, r runs.Run) (*comment.Behind, error) {
	some, err := orders(ctx, l.Facts, r)
	if some && l.behind == nil {
		var o *runs.Order
		if o, err = l.Facts.Order(ctx); err == nil {
			l.behind = o.PredecessorsOf()
		}
	}
	absent, err := Absent(ctx, l.Facts, err) // the base branch is deleted
	if errors.As(err, new(*github.FinalError)) {
		return nil, nil
	}
	if err != nil || absent || !some {
		return nil, err
	}
	return l.behind(r), nil
}

// Order returns the order of the pull request's applies, with the progress of each project. The dependencies at
// the head are those that Lockstep found when it last examined the head. Before an apply, the order is read
// once more with the state locked ([Reader.RequiredAgain]).
func (e *Reader) Order(ctx context.Context) (*runs.Order, error) {
	l, err := e.Ledger.LastLook(ctx, e.Message.Pull)
	if err != nil {
		return nil, err
	}
	o := runs.NewOrder()
	if l.Head == e.Pull.Head.SHA && l.Order != nil {
		o.Head = l.Order.Edges
	}
	if err := e.progress(ctx, o, l); err != nil {
		return nil, err
	}
	in, err := e.requirements(ctx)
	if err != nil || !in.settings.Orders() {
		return o, err
	}
	b, err := e.baseAt(ctx, in.sha)
	o.Base = project.EdgesOf(b.projects)
	return o, err
}

// Ranks returns a number for each run of the pull request. A run's number is higher than those of the projects
// on which its project depends: see [order.Ranks]. Ranks returns nil if there are no dependencies.
func (e *Reader) Ranks(ctx context.Context, all []ledger.Versioned) (map[string]int, error) {
	in, err := e.requirements(ctx)
	ordered := slices.ContainsFunc(all, func(s ledger.Versioned) bool { return s.Spec.Ordered })
	if err != nil || !ordered && !in.settings.Orders() {
		return nil, err
	}
	o, err := e.Order(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Project)
	}
	return order.Ranks(o.Edges(), names), nil
}

// progress adds the progress of the pull request's projects to the order. l is what Lockstep found when it last
// read the pull request.
func (e *Reader) progress(ctx context.Context, o *runs.Order, l ledger.Look) error {
	all, err := e.Ledger.Runs(ctx, e.Message.Pull)
	if err != nil {
		return err
	}
	planned := map[string]bool{}
	for _, s := range all {
		o.Add(s.Run, e.Pull.Head.SHA)
		if s.Spec.Head != e.Pull.Head.SHA || s.Phase == runs.Superseded {
			continue
		}
		if planned[s.Project] = planned[s.Project] || !s.Spec.Removed; s.Spec.Removed && e.Pull.Merged {
			if err := formerly(ctx, e, o, s.Run); err != nil {
				return err
			}
		}
	}
	if l.Head != e.Pull.Head.SHA || l.Order == nil {
		return nil
	}
	for _, name := range l.Order.Touched {
		if !planned[name] {
			o.Progress[name] = order.Unknown
		}
	}
	return nil
}

// formerly adds dependencies of a removed project to the order. They come from the last commit of the base
// branch that had the project: after the merge, the base branch does not have them.
func formerly(ctx context.Context, e *Reader, o *runs.Order, r runs.Run) error {
	b, err := e.baseAt(ctx, r.Spec.Base)
	if errors.Is(err, github.ErrNotFound) {
		return nil // the base branch was rewritten since
	}
	if err == nil {
		o.Was = order.Union(o.Was, project.EdgesOf(b.projects), func(string) bool { return true })
	}
	return err
}

// orderIn reads the order once more, for a request whose project was found in a checkout. It uses the projects
// in the checkout and the present tip of the base branch.
func (e *Reader) orderIn(ctx context.Context, checkout []project.Project) (*runs.Order, error) {
	in, err := e.requirements(ctx)
	head := project.EdgesOf(checkout)
	if err != nil || len(head) == 0 && !in.settings.Orders() && !e.Pull.Merged { // after the merge, see formerly
		return nil, err
	}
	o, err := e.Order(ctx)
	if err != nil {
		return nil, err
	}
	o.Head = head
	return o, nil
}
