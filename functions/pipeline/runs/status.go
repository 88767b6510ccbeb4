package runs

import (
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// Status returns the status of a run's project from the run alone: without texts, other pull requests and locks.
func Status(r Run) comment.ProjectStatus {
	p := comment.ProjectStatus{
		Name: r.Project, Standing: r.Standing(), Counts: r.Plan.Counts, Doubts: r.Plan.Doubts, Applyable: r.Plan.Applyable, Done: r.Apply.Done, Remaining: r.Apply.Remaining, Lost: r.Apply.Lost, Progress: r.Apply.Progress, By: r.Asked.By, StoppedBy: r.End.StoppedBy, Lifted: r.Apply.Lifted, Check: r.Check(), Plan: r.Plan.Hash, Options: r.Spec.Options, ByMerge: r.ByMerge(), Named: r.Spec.Named, AfterMerge: r.Spec.AfterMerge, Landed: r.Spec.AfterMerge || r.Phase == Dropped && r.End.Fate == Merged || r.Phase == ApplyFailed && r.ByMerge(), Upheld: r.Plan.Upheld, Vain: Stands(r), MergeApplies: r.Spec.ApplyOn == project.OnMerge || r.Spec.Removed, Removed: r.Spec.Removed, Gone: r.End.Fate == Gone, Renamed: r.End.Renamed, Owner: r.Address.Owner, Left: r.End.Fate == Left, FinishedBy: r.End.FinishedBy,
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

// ComesAfter adds the applies before its own to the status of a run: one that comes after another which is applied after the merge alone is
// applied then, too.
func ComesAfter(p *comment.ProjectStatus, b *comment.Behind) {
	p.Behind = b
	if b != nil && b.Once && (p.Standing == comment.Ready || p.Standing == comment.OnMerge) {
		p.Standing = comment.OnceMerged
	}
}

// Plain is the command for a plan without options of a run whose plan after the merge failed with some, which a retry has again; ""
// for another one.
func Plain(r Run) string {
	if !r.Spec.AfterMerge || r.Phase != PlanFailed || !Optional(r) {
		return ""
	}
	c := comment.Command{Verb: comment.Plan, Project: r.Project}
	if r.Spec.Twin {
		c.Workspace = r.Workspace
	}
	return c.String()
}

// Optional reports whether the plan of a run has options that somebody has given it.
func Optional(r Run) bool {
	own := r.Spec.Options
	own.Destroy = own.Destroy && !r.Spec.Removed
	return !own.IsZero()
}

// Label names a run's project for people.
func Label(r Run) string { return Status(r).Label() }

// Block adds the obstacles to the status of a run whose plan could be applied otherwise: last, if it is another pull request's
// and not merged, and a person's lock; or the lock, if it is for its own pull request. Both may be nil.
func Block(p *comment.ProjectStatus, r Run, last *LastApply, lock *Reservation) {
	if last != nil && !last.Settled && last.Number != r.Pull.Number {
		p.BlockedBy = last.Number
		p.Blockers = append(p.Blockers, notes.Unmerged(last.Number, r.Project))
	}
	if no := lock.Against(r.Pull.Number); no != nil {
		p.LockedBy, p.Locked = no.Number, len(p.Blockers) == 0
		p.Blockers = append(p.Blockers, reasons.LockedFor(*no))
	}
	p.Lock = lock.Of(r.Pull.Number)
	if len(p.Blockers) > 0 {
		p.Standing = comment.Blocked
	}
}

// AheadOf returns the applies ahead of that of a run, of all turns of its state.
func AheadOf(turns []Turn, r Run) (out []comment.Turn) {
	for _, t := range ahead(turns, r) {
		out = append(out, comment.Turn{Number: t.Pull.Number, By: t.By})
	}
	return out
}
