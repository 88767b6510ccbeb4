package planrun

import (
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// appliedNext reports whether a later line of the comment asks for the apply of the plan that c makes
// of a run. Its author has not seen the plan, and says so by writing both: the apply is of that very
// plan, once the gate allows it. One that names a plan by its hash means another.
func appliedNext(lines []grammar.Line, c comment.Command, r runs.Run) bool {
	at := slices.IndexFunc(lines, func(l grammar.Line) bool { return l.Command.AsPlan().Equal(c) })
	return at >= 0 && slices.ContainsFunc(lines[at+1:], func(l grammar.Line) bool {
		return l.Problem.IsZero() && l.Command.Verb == comment.Apply && l.Command.Plan == "" && !l.Command.Failed && r.Meant(l.Command) && !(r.Removed && l.Command.Everything())
	})
}

// follow goes on with the apply that was requested together with a plan.
func (pl *Planner) follow(ctx context.Context, r runs.Run) error {
	if r.ThenApply == 0 {
		return nil
	}
	return pl.Follow(ctx, r)
}
