package applyrun

import (
	"context"
	"errors"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/locking"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/steps"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// Close handles a pull request that was merged or closed. It queues applies that wait for the merge. It deletes
// saved plans, but keeps their texts. It reports applies whose changes will never be merged, and merges that
// leave plans unapplied.
func (cl *Closer) Close(ctx context.Context) error {
	if err := cl.Facts.Look(ctx); err != nil {
		return err
	}
	if cl.Facts.Pull.Open {
		return nil // reopened since the message was sent
	}
	if err := cl.Ledger.CloseLook(ctx, cl.Facts.Message.Pull, cl.Facts.Pull.Merged); err != nil {
		return err
	}
	if err := cl.Report.ListenFirst(ctx); err != nil {
		return err
	}
	planned, err := cl.planned(ctx)
	if err == nil && !planned {
		err = forgetRefusal(ctx, cl)
	}
	if err != nil {
		return err
	}
	if err := cl.keepForBase(ctx); err != nil {
		return err
	}
	if err := cl.SettleAll(ctx, cl.Facts.Pull.Merged && planned); err != nil {
		return err
	}
	if err := unapplied(ctx, cl); err != nil {
		return err
	}
	if err := cl.planMerged(ctx); err != nil {
		return err
	}
	if err := CheckRemoved(ctx, cl); err != nil {
		return err
	}
	return cl.Report.Sync(ctx)
}

// keepForBase makes the findings and the generated files of a merged pull request those of its base branch, with which
// later pull requests are compared.
func (cl *Closer) keepForBase(ctx context.Context) error {
	if !cl.Facts.Pull.Merged {
		return nil
	}
	all, err := cl.Ledger.Runs(ctx, cl.Facts.Message.Pull)
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.Spec.Head != cl.Facts.Pull.Head.SHA {
			continue
		}
		if err := steps.KeepForBase(ctx, cl.Artifacts, s.Run, cl.Facts.Pull.Base.Ref); err != nil {
			return err
		}
	}
	return nil
}

// CheckRemoved sends messages for plans that other pull requests have of projects which a merge has removed.
// Their handlers check these plans.
func CheckRemoved(ctx context.Context, cl *Closer) error {
	l, err := cl.Ledger.LastLook(ctx, cl.Facts.Message.Pull)
	if err != nil || !cl.Facts.Pull.Merged || l.Head != cl.Facts.Pull.Head.SHA || len(l.Removes) == 0 {
		return err
	}
	planned, err := cl.planned(ctx)
	if err != nil || !planned {
		return err
	}
	return cl.Open.CheckRemoved(ctx, l)
}

// forgetRefusal replaces the reason for a refusal that the pull request shows. The new text says into which
// branch the pull request was merged.
func forgetRefusal(ctx context.Context, cl *Closer) error {
	p := cl.Facts.Pull
	return cl.Ledger.ChangeLook(ctx, cl.Facts.Message.Pull, func(l *ledger.Look) {
		if l.Refused != "" && l.Problem == l.Refused {
			l.Problem = notes.WentElsewhere(p.Base.Ref, p.DefaultBranch, p.Merged)
		}
	})
}

// Retargeted handles an open pull request if Lockstep does not plan for its new base branch. It drops the plans
// of the pull request and releases the locks that people have taken for it, because its merge will apply
// nothing. Applied runs, and applies in progress, are kept. For a fork, it drops the plans of a commit that a
// person must name once more.
func (cl *Closer) Retargeted(ctx context.Context) error {
	planned, err := cl.planned(ctx)
	if err != nil || !cl.Facts.Pull.Open {
		return err
	}
	if planned {
		l, err := cl.Ledger.LastLook(ctx, cl.Facts.Message.Pull)
		if err != nil || !cl.Facts.Pull.Fork() || l.Refused == "" {
			return err
		}
	}
	all, err := cl.Ledger.Runs(ctx, cl.Facts.Message.Pull)
	if err != nil || len(all) == 0 {
		return err
	}
	if planned {
		all = slices.DeleteFunc(all, func(s ledger.Versioned) bool { return !runs.Preview(s.Run) || s.Spec.Head != cl.Facts.Pull.Head.SHA })
		for _, s := range all {
			if s.Phase != runs.Dropped {
				continue
			}
			if err := cl.Report.PutCheck(ctx, s.Run); err != nil { // it is open again
				return err
			}
		}
	}
	for _, s := range all {
		if err := cl.endLock(ctx, s.Run); err != nil {
			return err
		}
		if !s.Phase.Open() && (planned || s.Phase != runs.Dropped) {
			continue
		}
		if err := cl.drop(ctx, s, s.Phase); err != nil {
			return err
		}
	}
	return cl.Report.Sync(ctx)
}

// planMerged sends a message to plan projects of the merged pull request for which people saw no plan of the
// merged head. That happens if the merge came at once, or after a change of the base branch, or after a
// conflict; for a fork; and if the base branch has changed. The merge does not apply the changes of these
// projects, and without a plan nobody would notice.
func (cl *Closer) planMerged(ctx context.Context) error {
	about, p := cl.Facts.Message.Pull, cl.Facts.Pull
	if !p.Merged {
		return nil
	}
	l, err := cl.Ledger.LastLook(ctx, about)
	if err != nil {
		return err
	}
	all, err := cl.Ledger.Runs(ctx, about)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(s ledger.Versioned) bool { return s.Spec.Head != p.Head.SHA || s.Spec.Beside })
	all = slices.DeleteFunc(all, func(s ledger.Versioned) bool { return s.Phase == runs.Superseded && s.End.Renamed != "" }) // planned under another name
	overtaken, err := cl.mergedTooEarly(ctx, all)
	if err != nil {
		return err
	}
	looked := l.Head == p.Head.SHA && l.Refused == "" && l.Problem == "" && !l.Conflict
	if looked && !overtaken && !l.Asked && len(all) >= l.Projects {
		// If the base branch has not changed in between, the merge contains the files that were planned.
		// Otherwise, the merge may change more projects.
		onto, _, err := cl.Facts.Hub.MergedOnto(ctx, about.Number)
		if err == nil && onto == l.Base && l.Compared || err != nil && !errors.Is(err, github.ErrNotFound) {
			return err
		}
		if more, err := cl.touchesMore(ctx, all); err != nil || !more {
			return err
		}
	}
	m := pipeline.Message{Kind: pipeline.Landed, Actor: cl.Facts.Message.Actor}
	return pipeline.Send(ctx, cl.Open.Queue, about, m, about.Repo.ID, about.Number, p.Head.SHA)
}

// mergedTooEarly reports whether the pull request was merged before people could see the plan of one of these
// runs. It is also true if the merge has a project that the base branch did not have when the run ended.
func (cl *Closer) mergedTooEarly(ctx context.Context, all []ledger.Versioned) (overtaken bool, err error) {
	for _, s := range all {
		o, err := gatefacts.MergedTooEarly(ctx, cl.Facts, s.Run)
		if err != nil {
			return false, err
		}
		if s.End.Fate == runs.Gone && !o {
			if _, o, _, err = gatefacts.ProjectAt(ctx, cl.Facts, cl.Facts.Pull.MergeSHA, s.Run); err != nil {
				return false, err
			}
		}
		overtaken = overtaken || o
	}
	return overtaken, nil
}

// touchesMore reports whether the merge changes a project that has none of the runs in known. It returns false
// if that cannot be found out: the runs report the reason.
func (cl *Closer) touchesMore(ctx context.Context, known []ledger.Versioned) (bool, error) {
	t, d, err := gatefacts.TouchedByMerge(ctx, cl.Facts)
	if err != nil {
		_, err = gatefacts.FinalRefusal(err)
		return false, err
	}
	if d.Problem != "" || t.Problem != "" {
		return false, nil
	}
	planned := map[string]bool{}
	for _, s := range known {
		planned[s.Target()] = true
		if p, ok := ledger.Successor(s.Run, known, d.Projects); ok {
			planned[runs.ID{Project: p.Name, Workspace: p.Workspace}.Target()] = true
		}
	}
	gone := project.Removed(project.Removed(t.Had, t.Has), d.Projects)
	return slices.ContainsFunc(slices.Concat(d.Projects, gone), func(p project.Project) bool {
		mine := t.Touches(p) || slices.ContainsFunc(gone, func(x project.Project) bool { return x.Name == p.Name && x.Workspace == p.Workspace })
		return mine && !planned[runs.ID{Project: p.Name, Workspace: p.Workspace}.Target()]
	}), nil
}

// SettleAll handles the runs of a pull request that was merged or closed. If apply is set, it queues the
// applies that wait for the merge.
func (cl *Closer) SettleAll(ctx context.Context, apply bool) error {
	all, err := cl.Ledger.Runs(ctx, cl.Facts.Message.Pull)
	if err != nil {
		return err
	}
	if apply {
		if err := cl.Queuer.sort(ctx, all); err != nil {
			return err
		}
	}
	for _, s := range all {
		err := cl.settle(ctx, s, apply)
		for errors.Is(err, pipeline.ErrConflict) {
			// In the meantime, another process has changed the phase of the run, for example because its plan
			// is made. A phase never goes backwards.
			if s, err = cl.Ledger.Read(ctx, s.Key()); err == nil {
				err = cl.settle(ctx, s, apply)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// settle handles one run of a pull request that was merged or closed. The error wraps pipeline.ErrConflict if
// somebody else has changed the run.
func (cl *Closer) settle(ctx context.Context, s ledger.Versioned, apply bool) error {
	if err := cl.settleStates(ctx, s.Run); err != nil {
		return err
	}
	if err := gatefacts.ClaimMerged(ctx, cl.Facts, s.Run); err != nil {
		return err
	}
	if err := cl.endLock(ctx, s.Run); err != nil {
		return err
	}
	if s.Spec.AfterMerge && runs.Empty(s.Run) {
		return checkWaiting(ctx, cl, s.Run) // an earlier attempt at this message may have died before that
	}
	if s.End.Fate == runs.Gone {
		return cl.Ledger.UnlistPlan(ctx, s.Run) // nothing is left to do for it
	}
	if s.Spec.AfterMerge && s.Phase != runs.Dropped {
		return nil // somebody has asked for a plan of the merged pull request since
	}
	if apply && runs.Empty(s.Run) && !s.Spec.Removed && !s.Spec.Beside && s.Spec.Head == cl.Facts.Pull.Head.SHA {
		waits, err := mergedUnchanged(ctx, cl, &s)
		if err != nil || waits {
			return err
		}
	}
	if apply && s.Spec.ApplyOn == project.OnMerge && s.Phase != runs.Superseded && !s.Spec.Removed {
		return cl.applyMerged(ctx, s)
	}
	was, err := cl.endedPhase(ctx, s.Run)
	if err != nil {
		return err
	}
	// drop does nothing to a run whose apply is queued or in progress: the run is handled when the apply ends.
	return cl.drop(ctx, s, was)
}

// endedPhase returns the phase that people see for a run whose pull request has ended. It is Stale in a special
// case: the plan of a removed project had nothing to destroy, but another pull request was applied since, which
// may have created objects.
func (cl *Closer) endedPhase(ctx context.Context, r runs.Run) (runs.Phase, error) {
	if !r.Spec.Removed || r.Phase != runs.Planned || r.Plan.Applyable || !cl.Facts.Pull.Merged {
		return r.Phase, nil
	}
	last, err := cl.Ledger.LastApply(ctx, r)
	if err == nil && last.Count() > r.Plan.Applies {
		return runs.Stale, nil
	}
	return r.Phase, err
}

// endLock releases the lock that a person has taken on a run's state for this pull request.
func (cl *Closer) endLock(ctx context.Context, r runs.Run) error {
	lifter := locking.Lifter{Ledger: cl.Ledger, Open: cl.Open}
	v, err := lifter.Lift(ctx, r)
	if err != nil || v == nil {
		return err
	}
	return lifter.Finish(ctx, r, cl.Facts.Message.ID)
}

// settleStates handles the states to which a run was applied. It reports an apply whose changes will never be
// on the base branch. There are three cases:
//   - The pull request was closed without a merge.
//   - It was merged into a branch for which Lockstep does not plan, or into another branch than the one for
//     which it was applied.
//   - It was merged with another head, which does not change the project.
func (cl *Closer) settleStates(ctx context.Context, r runs.Run) error {
	fate := runs.Closed
	if cl.Facts.Pull.Merged {
		fate = runs.Merged
	}
	all, err := ledger.SettleAll(ctx, cl.Ledger, r, r.Pull.Number, fate)
	for _, last := range all {
		if err := errors.Join(cl.Open.Settled(ctx, r, &last), reportUnfinished(ctx, cl, r, last)); err != nil {
			return err
		}
	}
	if err == nil && fate == runs.Merged {
		err = ledger.MoveLast(ctx, cl.Ledger, r)
	}
	return err
}

// reportUnfinished reports the last apply to a run's state, if its changes will never be on the base branch.
func reportUnfinished(ctx context.Context, cl *Closer, r runs.Run, last runs.LastApply) error {
	if cl.Facts.Pull.Issue != "" {
		return nil // the default branch has what was planned
	}
	u, answer := comment.Unfinished{Project: r.Project, By: last.By, Head: last.Head}, ledger.CloseAnswer
	if p := cl.Facts.Pull; p.Merged {
		planned, err := gatefacts.BasePlanned(ctx, cl.Facts)
		if err != nil {
			return err
		}
		l, err := cl.Ledger.LastLook(ctx, cl.Facts.Message.Pull)
		if err != nil {
			return err
		}
		answer = ledger.MergeAnswer
		elsewhere := last.Into != "" && last.Into != p.Base.Ref
		if planned && elsewhere {
			_, err := cl.Facts.Hub.Tip(ctx, last.Into)
			absent, err := gatefacts.Absent(ctx, cl.Facts, err)
			if err != nil {
				return err
			}
			elsewhere = !absent // the project has got another name
		}
		switch other := last.Head != p.Head.SHA && r.Spec.Head != p.Head.SHA && l.Head == p.Head.SHA; {
		case !planned:
			u.Into, u.Main = p.Base.Ref, p.DefaultBranch
		case elsewhere:
			u.Into, u.Main = p.Base.Ref, last.Into
		case other:
			u.Merged = p.Head.SHA
		case last.Moved != "":
			u.Moved = last.Moved
		default: // merged as it was applied or planned, or still to be looked at
			return nil
		}
	}
	if u.Merged == "" && u.Moved == "" {
		known, err := gatefacts.OnBranch(ctx, cl.Facts, u.Main, r)
		if err != nil {
			if _, err = gatefacts.FinalRefusal(err); err != nil {
				return err
			}
			known = true
		}
		if u.Unknown = !known; u.Unknown && destroyed(r) {
			return nil
		}
		u.Workspace = runs.Status(r).Workspace
	}
	return cl.Report.Reply(ctx, answer, report.NewReply(r.Target()+" "+last.Head, u))
}

// destroyed reports whether the last apply of a run has destroyed all objects of its project.
func destroyed(r runs.Run) bool {
	return r.Phase == runs.Applied && r.Spec.Options.Destroy && !r.Spec.Options.Partial()
}

// applyMerged queues the apply of a plan after the merge of its pull request. It does not queue the plan of an
// earlier head. It does not queue a plan that became visible only after the merge, because then Lockstep plans
// the merged changes.
func (cl *Closer) applyMerged(ctx context.Context, s ledger.Versioned) error {
	overtaken, err := gatefacts.MergedTooEarly(ctx, cl.Facts, s.Run)
	if err != nil {
		return err
	}
	if overtaken || s.Spec.Head != cl.Facts.Pull.Head.SHA {
		return cl.drop(ctx, s, s.Phase)
	}
	if s.Waiting() && s.Asked.Waits.For != cl.Facts.Message.ID {
		return nil
	}
	other := s.Asked.ApplyFor != cl.Facts.Message.ID && s.Phase.UnderWay()
	if s.Phase == runs.Planned && !s.Plan.Applyable && runs.Complete(s.Run) || runs.KeepsOutcome(s.Run) || s.Phase == runs.Applied || s.Phase == runs.Dropped || other {
		return cl.drop(ctx, s, s.Phase) // nothing to do, or another message does it
	}
	no, err := cl.Queuer.enqueueOne(ctx, comment.Command{Verb: comment.Apply}, s, false)
	if err != nil {
		return err
	}
	if no == nil {
		return nil
	}
	if err := cl.Report.Reply(ctx, ledger.MergeAnswer, report.ApplyReply(s.Run, no)); err != nil {
		return err
	}
	return cl.drop(ctx, s, s.Phase)
}

// drop moves a run to the phase Dropped, and deletes its artifacts. Its pull request is closed, or goes into a
// branch for which Lockstep does not plan. was is the phase that people see from then on. drop answers the
// person who waits for the plan, or for an apply requested together with it. It does nothing to a run whose
// apply is queued or in progress. The error wraps pipeline.ErrConflict if somebody else has changed the run.
func (cl *Closer) drop(ctx context.Context, s ledger.Versioned, was runs.Phase) error {
	here := s.Spec.Head == cl.Facts.Pull.Head.SHA
	if was == runs.Dropped && here {
		return report.RepeatCheck(ctx, cl.Report, s.Run) // by an earlier attempt at this message, which may have died then
	}
	if was == runs.Dropped {
		return report.EndCheck(ctx, cl.Report, s.Run)
	}
	if !s.Phase.May(runs.Dropped) || was.UnderWay() {
		return nil
	}
	planned, err := cl.planned(ctx)
	if err != nil {
		return err
	}
	var gone reasons.Reason = reasons.NotOpen{Merged: cl.Facts.Pull.Merged}
	if p := cl.Facts.Pull; p.Open {
		gone = reasons.OtherBase{Base: p.Base.Ref, Default: p.DefaultBranch}
		if planned {
			gone = reasons.ForkUnnamed{Head: p.Head.SHA}
		}
	}
	if err := cl.Report.Announce(ctx, s.Run); err != nil {
		return err
	}
	if err := cl.answerWaiting(ctx, s.Run, gone); err != nil {
		return err
	}
	// The texts for people are kept: the plan, and the result of its apply. The next plan deletes both.
	if err := ledger.Sweep(ctx, cl.Artifacts, s.Run, s.HighestNumber(), s.Report(), s.FullReport(), s.Result(), s.FullResult(), s.StepOutputs(), s.ApplyStepOutputs()); err != nil {
		return err
	}
	if err := cl.Ledger.UnlistPlan(ctx, s.Run); err != nil {
		return err
	}
	if !cl.Facts.Pull.Merged && was == runs.Planned && runs.Empty(s.Run) {
		last, err := cl.Ledger.LastApply(ctx, s.Run)
		if err != nil {
			return err
		}
		s.Plan.Upheld = s.Plan.Upheld || last.IsOf(s.Pull.Number, s.Spec.Head)
	}
	fate := runs.Closed
	switch {
	case cl.Facts.Pull.Open:
		fate = runs.Left
	case cl.Facts.Pull.Merged && planned:
		fate = runs.Merged
	}
	s.Run = s.Drop(was, fate)
	s.Artifacts.Swept = max(s.Artifacts.Swept, s.Artifacts.Begun-1)
	s, err = cl.Ledger.Save(ctx, s)
	if err != nil {
		return err
	}
	if err := cl.Report.AtRest(ctx, s.Run); err != nil || here {
		return err
	}
	return report.EndCheck(ctx, cl.Report, s.Run)
}

// answerWaiting tells the person who waits for a run why the run has ended. gone is the reason.
func (cl *Closer) answerWaiting(ctx context.Context, r runs.Run, gone reasons.Reason) error {
	if r.Phase == runs.Queued || r.Phase == runs.Planning {
		no := gatefacts.Refused(comment.Command{Verb: comment.Plan}, r.Project, admission.Refusal(gone))
		if err := cl.Report.Reply(ctx, r.Asked.Answer, report.PlanNotMade(r, no, gone)...); err != nil {
			return err
		}
	} else if err := cl.Report.AnswerWaitingApply(ctx, r, gone); err != nil {
		return err
	}
	if !r.Phase.Ended() {
		return nil
	}
	return cl.Queuer.Tell(ctx)
}

// planned reports whether Lockstep plans pull requests into the base branch: see [gatefacts.BasePlanned]. It
// also returns true if that cannot be found out until a person fixes something. Plans are then kept, and the
// gate reports the error.
func (cl *Closer) planned(ctx context.Context) (bool, error) {
	planned, err := gatefacts.BasePlanned(ctx, cl.Facts)
	if err != nil {
		_, err = gatefacts.FinalRefusal(err)
		planned = true
	}
	return planned, err
}
