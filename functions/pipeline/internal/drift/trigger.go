package drift

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
)

// AfterApply returns the message about the apply of a run, and the pull request that it belongs to: none.
func AfterApply(r runs.Run) (pull pipeline.Pull, m pipeline.Message) {
	pull = r.Pull
	pull.Number = 0
	return pull, pipeline.Message{Kind: pipeline.FindDrift, Target: r.Target(), After: r.Pull.Number, At: time.Now().UTC()}
}

// HasIssue reports whether there is an open issue about the project of a run.
func HasIssue(ctx context.Context, ld ledger.Ledger, r runs.Run) (bool, error) {
	known, err := ld.DriftOf(ctx, r.Pull, r.Target())
	if err != nil || known.Open {
		return known.Open, err
	}
	triggered, err := ld.RunTriggerOf(ctx, r.Pull, r.Target())
	return triggered.Open, err
}

// trigger handles a message about an apply. If there is an issue about the applied project, it sends a look at that
// project. It sends a plan for each project that depends directly on the applied one. It leaves out the projects that the
// pull request of the apply plans itself: its comments show them. A plan changes nothing, so one apply triggers no others.
func (f *Finder) trigger(ctx context.Context) error {
	m := f.Facts.Message
	s, err := f.base(ctx)
	if err != nil {
		return fmt.Errorf("find what depends on an applied project: %w", err)
	}
	open, err := HasIssue(ctx, f.Ledger, runs.Run{ID: runs.ID{Pull: m.Pull, Project: runs.ProjectOf(m.Target), Workspace: runs.WorkspaceOf(m.Target)}})
	if err != nil {
		return err
	}
	if open {
		if err := f.send(ctx, pipeline.Message{Target: m.Target, At: m.At}); err != nil {
			return err
		}
	}
	if !s.TriggersRuns() {
		return nil
	}
	watched, _, err := f.watched(ctx, s)
	if err != nil {
		return err
	}
	all, err := gatefacts.ProjectsAt(ctx, f.Facts, f.Facts.Pull.Head.SHA)
	if err != nil {
		return err
	}
	by := ledger.RunTrigger{After: label(all, m.Target), Number: m.After, At: m.At}
	for _, p := range project.Dependents(all, runs.ProjectOf(m.Target)) {
		target := runs.ID{Project: p.Name, Workspace: p.Workspace}.Target()
		if watched[target] == 0 {
			continue
		}
		own, err := f.plannedBy(ctx, m.After, target)
		if err != nil {
			return err
		}
		if own {
			continue
		}
		if err := f.Ledger.TriggerRun(ctx, m.Pull, target, by); err != nil {
			return err
		}
		if err := f.send(ctx, pipeline.Message{Target: target, At: m.At, After: m.After}); err != nil {
			return err
		}
	}
	return nil
}

// label returns the label of the project with a target.
func label(all []project.Project, target string) string {
	for _, p := range all {
		if r := (runs.Run{ID: runs.ID{Project: p.Name, Workspace: p.Workspace}}); r.Target() == target {
			return runs.Label(r)
		}
	}
	return runs.ProjectOf(target)
}

// plannedBy reports whether a pull request has a plan of a project that is in progress, waits for its apply, or has
// failed. Then its comments show what is left to do.
func (f *Finder) plannedBy(ctx context.Context, number int, target string) (bool, error) {
	pull := f.Facts.Message.Pull
	pull.Number = number
	s, err := f.Ledger.Read(ctx, pull.Runs()+"/"+target)
	if err != nil || s.Version == "" {
		return false, err
	}
	switch s.Phase {
	case runs.Applied, runs.Superseded, runs.Dropped:
		return false, nil
	case runs.Planned:
		return s.Plan.Applyable, nil
	}
	return true, nil
}

// planAfterApply plans a project that an apply has made out of date, and updates the issue about it. watched is set if
// the settings ask for that.
func (f *Finder) planAfterApply(ctx context.Context, r runs.Run, watched bool) error {
	m := f.Facts.Message
	was, err := f.Ledger.RunTriggerOf(ctx, m.Pull, m.Target)
	if err != nil || !was.Pending && !was.Open {
		return err
	}
	save := func(d ledger.Drift) error { return f.Ledger.SaveTriggeredIssue(ctx, m.Pull, m.Target, was, d) }
	x := comment.RunTriggerIssue{
		Project: runs.Label(r), Target: m.Target, Branch: f.Facts.Pull.Base.Ref, SHA: f.Facts.Pull.Head.SHA,
		After: was.After, Number: was.Number, Since: was.At, Looked: time.Now().UTC(), Unwatched: !watched,
	}
	if watched {
		left, err := f.leftUnapplied(ctx, r)
		if err != nil || left {
			return err // such a plan would repeat changes that people know: the next look plans again
		}
		result, problem, err := f.plan(ctx, r, nil)
		if err != nil || problem != "" {
			return err // a look for drift fails in the same way, and its issue has the error
		}
		x.Over = !result.Applyable
		x.Counts, x.Report = result.Counts, f.Report.Clean(result.Report)
	}
	a := account{was: was.Drift, save: save, now: x.Looked, of: func(time.Time) content { return x }, open: watched && !x.Over}
	a.found = jobs.Happened{Outcome: endpoints.OutcomeOutOfDate, Run: r, Counts: x.Counts}
	return f.tell(ctx, a)
}

// leftUnapplied reports whether people already know why the state of a run lacks changes of the default branch: an apply
// is in progress, a pull request was applied and is not merged, or a pull request was merged and not applied.
func (f *Finder) leftUnapplied(ctx context.Context, r runs.Run) (bool, error) {
	last, err := f.Facts.LastApply(ctx, r)
	if err != nil || last != nil && !last.Settled {
		return true, err
	}
	queue, err := f.Ledger.Queue(ctx, r)
	if err != nil || len(queue) > 0 {
		return true, err
	}
	merges, err := ledger.UnappliedMerges(ctx, f.Ledger, r)
	if err != nil {
		return true, err
	}
	for _, l := range merges {
		s, err := f.Ledger.Read(ctx, l.Pull.Runs()+"/"+r.Target())
		if err != nil {
			return true, err
		}
		if l.By == 0 && l.Of(s.Run) {
			return true, nil
		}
	}
	return false, nil
}
