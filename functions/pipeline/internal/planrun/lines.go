package planrun

import (
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// lineOf returns the index of the line in the comment that contains the plan command c; 0 if there is none.
func lineOf(lines []grammar.Line, c comment.Command) int {
	return max(0, slices.IndexFunc(lines, func(l grammar.Line) bool { return l.Problem.IsZero() && l.Command.AsPlan().Equal(c) }))
}

// plannedAbove returns the reason against a plan of a run, if another line of the same comment requests a plan
// of the same run: a run has only one plan. It returns nil if there is no such line.
func plannedAbove(lines []grammar.Line, c comment.Command, r runs.Run) reasons.Reason {
	if r.Asked.PlanLine >= len(lines) || r.Asked.PlanLine == lineOf(lines, c) {
		return nil
	}
	return reasons.PlannedAbove{Project: r.Project, Command: lines[r.Asked.PlanLine].Command, Verb: grammar.Plan}
}

// appliedNext reports whether a later line of the comment requests the apply of the plan that the command c
// makes of a run. The author has not seen the plan, and accepts that by writing both lines. Exactly this plan
// is applied, if the gate allows it. A line that names a plan by its hash is ignored, because it means another
// plan.
func appliedNext(lines []grammar.Line, c comment.Command, r runs.Run) bool {
	return WhyNotAppliedNext(lines, lineOf(lines, c), r) == nil && appliedAfter(lines, c, r)
}

// appliedAfter reports whether a line after the line with the plan command c requests the apply of the run.
func appliedAfter(lines []grammar.Line, c comment.Command, r runs.Run) bool {
	return len(lines) > 0 && slices.ContainsFunc(lines[lineOf(lines, c)+1:], func(l grammar.Line) bool { return asksForApply(l, c, r) })
}

// asksForApply reports whether the line l requests the apply of the plan that the command c makes of a run.
func asksForApply(l grammar.Line, c comment.Command, r runs.Run) bool {
	of := l.Command
	if of.Failed && c.Failed { // the run has not failed any more
		of.Failed = false
	}
	return l.Problem.IsZero() && of.Verb == comment.Apply && of.Plan == "" && !of.Failed && r.SelectedBy(of) && (!r.Spec.Removed || runs.NamedBy(r, of))
}

// WhyNotAppliedNext returns the reason why a later line of a comment does not apply the plan of a run that an
// earlier line requests. line is the index of the latter. It returns nil if there is none. There are two
// reasons:
//   - The plan changes the state or invokes an action: such plans must be shown first.
//   - A line in between requests another plan, so that it is not clear which plan is meant.
func WhyNotAppliedNext(lines []grammar.Line, line int, r runs.Run) reasons.Reason {
	if line >= len(lines) {
		return nil
	}
	c := lines[line].Command
	plan := c.AsPlan()
	if plan.Options.Changes() || c.Verb == grammar.Taint {
		return reasons.ShownFirst{Project: r.Project, Command: c}
	}
	for _, l := range lines[line+1:] {
		if !l.Problem.IsZero() {
			continue
		}
		if asksForApply(l, plan, r) {
			break
		}
		other := l.Command.AsPlan()
		if other.Verb == comment.Plan && !other.Failed && !other.Equal(plan) && r.SelectedBy(other) && !(r.Spec.Beside && other.Everything()) {
			return reasons.PlannedAbove{Project: r.Project, Command: c, Verb: grammar.Apply}
		}
	}
	return nil
}

// queueFollowing queues an apply that was requested together with the plan.
func (pl *Planner) queueFollowing(ctx context.Context, r runs.Run) error {
	if r.Asked.ThenApply == 0 {
		return nil
	}
	return pl.Follow(ctx, r)
}
