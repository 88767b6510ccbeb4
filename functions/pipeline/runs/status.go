package runs

import (
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// Status returns the status of a run's project, as far as the run alone shows it. The status has no texts of
// plans. It says nothing about other pull requests and locks.
func Status(r Run) comment.ProjectStatus {
	p := comment.ProjectStatus{
		Name: r.Project, Standing: r.Standing(), Removed: r.Spec.Removed, Named: r.Spec.Named, Options: r.Spec.Options,
		PlanSummary: r.Plan.PlanSummary, ApplySummary: r.Apply.ApplySummary, EndSummary: r.End.EndSummary,
		MergeRole: comment.MergeRole{
			ByMerge: r.ByMerge(), MergeApplies: r.Spec.ApplyOn == project.OnMerge || r.Spec.Removed, AfterMerge: r.Spec.AfterMerge, OnIssue: r.Spec.OnIssue,
			Landed: r.Spec.AfterMerge || r.Phase == Dropped && r.End.Fate == Merged || r.Phase == ApplyFailed && r.ByMerge(),
		},
		Queueing:  comment.Queueing{By: r.Asked.By},
		Obstacles: comment.Obstacles{Owner: r.Address.Owner},
		Vain:      KeepsOutcome(r), Left: r.End.Fate == Left, Gone: r.End.Fate == Gone,
		Texts: comment.Texts{Check: r.CheckRun()},
	}
	if p.Standing == comment.Queued {
		p.Crowd = r.Asked.Crowd
	}
	if r.Spec.Twin {
		p.Workspace = r.Workspace
	}
	if r.Waiting() {
		p.By, p.After, p.Late = r.Asked.Waits.By, r.Asked.Waits.On, r.Asked.Late
	}
	return p
}

// ComesAfter adds to the status of a run the applies that must be done before the run's own apply. If one of
// these applies is possible only after the merge, the run can also be applied only after the merge.
func ComesAfter(p *comment.ProjectStatus, b *comment.Behind) {
	p.Behind = b
	if b != nil && b.Once && (p.Standing == comment.Ready || p.Standing == comment.OnMerge) {
		p.Standing = comment.OnceMerged
	}
}

// PlainPlanCommand returns the command for a plan without options. It is for a run whose plan after the merge
// failed with options, because a retry would use the same options again. It returns "" for all other runs.
func PlainPlanCommand(r Run) string {
	if !r.Spec.AfterMerge || r.Phase != PlanFailed || !HasOptions(r) {
		return ""
	}
	c := comment.Command{Verb: comment.Plan, Project: r.Project}
	if r.Spec.Twin {
		c.Workspace = r.Workspace
	}
	return c.String()
}

// HasOptions reports whether somebody has given options for the plan of a run.
func HasOptions(r Run) bool {
	own := r.Spec.Options
	own.Destroy = own.Destroy && !r.Spec.Removed
	return !own.IsZero()
}

// Label returns the name of a run's project for people.
func Label(r Run) string { return Status(r).Label() }

// Block adds obstacles to the status of a run whose plan could otherwise be applied. last is an obstacle if it
// belongs to another pull request that is not merged. lock is an obstacle if it belongs to another pull
// request, and is shown if it belongs to this one. Both may be nil.
func Block(p *comment.ProjectStatus, r Run, last *LastApply, lock *Reservation) {
	if last != nil && !last.Settled && last.Number != r.Pull.Number {
		p.BlockedBy = last.Number
		p.Blockers = append(p.Blockers, notes.Unmerged(last.Number, r.Project))
	}
	if no := lock.Blocks(r.Pull.Number); no != nil {
		p.LockedBy, p.Locked = no.Number, len(p.Blockers) == 0
		p.Blockers = append(p.Blockers, reasons.LockedFor(*no))
	}
	p.Lock = lock.OwnLock(r.Pull.Number)
	if len(p.Blockers) > 0 {
		p.Standing = comment.Blocked
	}
}

// AheadOf returns the applies that are queued before a run's apply. turns are all turns of the run's state.
func AheadOf(turns []Turn, r Run) (out []comment.Turn) {
	for _, t := range ahead(turns, r) {
		out = append(out, comment.Turn{Number: t.Pull.Number, By: t.By})
	}
	return out
}
