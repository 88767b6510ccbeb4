package admission

import (
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// permission refuses a command of a person without write access. Everybody who can read a private repository may show
// parts of its states, because the plans in its pull requests show these, too. In a public repository that would be
// everybody.
func permission(q *Request) reasons.Reason {
	needs := github.WritePermission
	if q.Shows && q.Pull.Private {
		needs = github.ReadPermission
	}
	if q.Actor != "" && q.Permission < needs && !q.mergedByBot() {
		return reasons.NoPermission{Login: q.Actor, Has: q.Permission.String(), Needs: needs.String()}
	}
	return nil
}

// mergedByBot reports whether an App has merged the pull request, as merge queues do, or added it to GitHub's
// merge queue. GitHub shows no permission of an App, but has let this one merge.
func (q *Request) mergedByBot() bool {
	by := q.Pull.MergedBy == q.Actor || q.Pull.MergedBy == pipeline.MergeQueue
	return q.Entry == ByMerge && q.Pull.Merged && by && pipeline.IsBot(q.Actor)
}

func otherBase(q *Request) reasons.Reason {
	if base := q.Pull.Base.Ref; base != q.Pull.DefaultBranch && !q.BaseNamed {
		return reasons.OtherBase{Base: base, Default: q.Pull.DefaultBranch}
	}
	return nil
}

// servedElsewhere refuses a command for a project for which another deployment works, according to the base
// branch.
func servedElsewhere(q *Request) reasons.Reason {
	if q.ServedBy != q.Deployment {
		return reasons.ServedElsewhere{Project: q.Run.Project, By: q.ServedBy}
	}
	return nil
}

// shadowed refuses each command for a project in shadow mode, because another tool applies it. Only a plan that nobody can
// apply is allowed. A stop and an unlock are always allowed: they end what Lockstep did before the project was in this mode.
func shadowed(q *Request) reasons.Reason {
	if q.Shadow && !(q.Verb == comment.Plan && q.Compares) {
		return reasons.InShadow{Project: q.Run.Project}
	}
	return nil
}

func closed(q *Request) reasons.Reason {
	// Merged changes can be planned as often as necessary, until they are applied.
	if after := q.afterMerge() && q.Verb == comment.Plan; !q.Pull.Open && !after {
		return reasons.NotOpen{Merged: q.Pull.Merged, Lock: q.Verb == comment.Lock}
	}
	return nil
}

// issueClosed refuses to plan and to apply for an issue that somebody has closed.
func issueClosed(q *Request) reasons.Reason {
	if q.Pull.Issue == github.IssueClosed {
		return reasons.IssueClosed{Project: q.Run.Project}
	}
	return nil
}

func beingApplied(q *Request) reasons.Reason {
	if q.Run.Phase.UnderWay() {
		return reasons.BeingApplied{By: q.Run.Asked.By, Verb: q.Verb}
	}
	return nil
}

// restored refuses to destroy the objects of a removed project, if the project exists once more.
func restored(q *Request) reasons.Reason {
	if q.Run.Spec.Removed && q.Restored {
		return reasons.Restored{Project: q.Run.Project, Merged: q.Pull.Merged}
	}
	return nil
}

func conflict(q *Request) reasons.Reason {
	if q.Conflict {
		return reasons.Conflicts{Head: q.Pull.Head.SHA}
	}
	return nil
}

// commitGone refuses if the commit that is needed no longer exists on GitHub.
func commitGone(q *Request) reasons.Reason {
	if q.Gone != "" {
		return reasons.CommitGone{Problem: q.Gone}
	}
	return nil
}

// ungenerated refuses if a step that writes files into the checkout has failed: what is there is not what was planned.
func ungenerated(q *Request) reasons.Reason {
	if q.Ungenerated != nil {
		return *q.Ungenerated
	}
	return nil
}

// unusable refuses if there is no job for the project. If the settings have errors, [inputsMoved] reports them.
func unusable(q *Request) reasons.Reason {
	if q.Unusable != "" && q.Broken == "" {
		return reasons.Unusable{Problem: q.Unusable}
	}
	return nil
}

// occasion refuses an apply by a comment if the settings want the merge to apply, and an apply by the merge if
// they want a comment.
func occasion(q *Request) reasons.Reason {
	onMerge := q.Run.Spec.ApplyOn == project.OnMerge
	switch {
	case q.merged() && !q.Pull.Merged:
		return reasons.NotMerged{}
	case q.merged() && !onMerge && q.Run.Phase != runs.New:
		return reasons.NotOnMerge{Project: q.Run.Project}
	case q.Entry != ByComment, q.Pull.Merged && phaseExplains(q.Run):
		return nil
	case !q.Pull.Open && !(q.Pull.Merged && q.Run.Spec.AfterMerge):
		return reasons.NotOpen{Merged: q.Pull.Merged}
	case !onMerge, q.Run.Spec.AfterMerge:
		return nil
	case runs.Empty(q.Run):
		return nil // nothing has to be done, neither now nor after the merge: see phase
	}
	no := reasons.AppliedLater{Project: q.Run.Project}
	if phase(q) == nil {
		no.Renewed = q.Run.Standing() == comment.Renewed
		if !runs.PlansEverything(q.Run) {
			no.Options = q.Run.Spec.Options.Words()
		}
	}
	return no
}

// phaseExplains reports whether, for a run of a merged pull request, the reason of the rule [phase] is enough:
// the apply waits, is in progress or done.
func phaseExplains(r runs.Run) bool {
	return r.End.FinishedBy != 0 || r.Waiting() || r.Phase.UnderWay() || r.Phase == runs.Applied && runs.Complete(r)
}

// asksForMerge reports whether a comment requests an apply that only the merge makes. The refusal then contains
// only reasons that would also block the apply by the merge.
func (q *Request) asksForMerge() bool {
	return q.Verb == comment.Apply && q.Entry == ByComment && q.Run.ByMerge()
}

// notAll refuses the apply by a merge, if the plan leaves out changes of the pull request. A person who merges
// expects all changes to be applied. But the options of a plan are chosen by whoever requests it, and the
// person who merges may not notice them.
func notAll(q *Request) reasons.Reason {
	if q.merged() && !runs.PlansEverything(q.Run) {
		return reasons.NotAll{Options: q.Run.Spec.Options.Words()}
	}
	return nil
}

// phase refuses if the run has no plan that can be applied.
func phase(q *Request) reasons.Reason {
	r := q.Run
	if r.End.FinishedBy != 0 {
		return reasons.AlreadyDone{Head: r.Spec.Head, Number: r.End.FinishedBy}
	}
	if r.Waiting() {
		return reasons.BeingApplied{By: r.Asked.Waits.By, Verb: comment.Apply, Late: r.Asked.Late}
	}
	switch r.Phase {
	case runs.Queued, runs.Planning:
		return reasons.BeingPlanned{Merged: q.merged() || q.Pull.Merged}
	case runs.PlanFailed:
		return reasons.PlanIsBad{Head: r.Spec.Head, Merged: q.merged() || q.Pull.Merged, StoppedBy: r.End.StoppedBy, Plain: runs.PlainPlanCommand(r), Vain: runs.KeepsOutcome(r)}
	case runs.ApplyQueued, runs.Applying, runs.Continuing:
		return reasons.BeingApplied{By: r.Asked.By, Verb: comment.Apply}
	case runs.Applied:
		return reasons.AlreadyDone{Head: r.Spec.Head, By: r.Asked.By}
	case runs.ApplyFailed:
		return reasons.ApplyBroken{Merged: q.merged() || q.Pull.Merged}
	case runs.Stale:
		return reasons.FoundStale{Merged: q.merged() || q.Pull.Merged}
	case runs.Planned, runs.Stopped:
		if !r.Plan.Applyable {
			return reasons.NothingToDo{}
		}
		return nil
	}
	return reasons.NoPlan{Merged: q.merged() || q.Pull.Merged}
}
