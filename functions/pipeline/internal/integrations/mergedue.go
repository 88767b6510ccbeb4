package integrations

import (
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// forBase reports whether an apply was for the present base branch of a pull request. branch is the base branch
// at the apply; "" means that it is not known, and forBase returns true.
func forBase(branch string, p github.PullRequest) bool { return branch == "" || branch == p.Base.Ref }

// mergeDue reports whether nothing is left to do for an open pull request but its merge. Three conditions must
// be true:
//   - Lockstep has examined the present head.
//   - At least one project is applied.
//   - All other projects that the head changes are applied, or have no changes. A project without a plan of the
//     head is not done, and neither is one that was applied only in part.
//
// mergeDue returns false for drafts, for pull requests from forks, with conflicts or with policies that have
// errors, and for those that were applied for another base branch. kept are the keys of the runs to whose
// states this pull request was applied last. If such a run's plan has no changes, its project counts as
// applied.
func mergeDue(p github.PullRequest, l ledger.Look, all []runs.Run, kept map[string]bool) bool {
	alone := !p.Open || p.Draft || p.Fork()
	moved := l.Head != p.Head.SHA || l.Into != p.Base.Ref
	unplanned := l.Closed || l.Conflict || l.Problem != "" || l.Policies != "" || l.Refused != ""
	if alone || moved || unplanned {
		return false
	}
	applied, planned := false, 0
	for _, r := range all {
		if r.Spec.Head == l.Head && !r.Spec.Beside && (r.Phase != runs.Superseded || r.End.Renamed == "") {
			planned++
		}
		former := r.Spec.Head != l.Head && !r.Phase.UnderWay()
		if r.Phase == runs.Superseded || former {
			continue
		}
		done, of := appliedAt(r, l.Head, p, kept)
		if !done {
			return false
		}
		applied = applied || of
	}
	return applied && planned >= l.Projects
}

// appliedAt reports whether a run has nothing left to apply at the commit head (done), and whether the pull
// request was applied to the run's state (applied).
func appliedAt(r runs.Run, head string, p github.PullRequest, kept map[string]bool) (done, applied bool) {
	switch {
	case r.Spec.Head != head:
		return false, false
	case r.Phase == runs.Applied && runs.Complete(r) && forBase(r.Asked.Into, p):
		return true, true
	case r.Phase == runs.Planned && !r.Plan.Applyable && runs.Complete(r), runs.KeepsOutcome(r):
		return true, kept[r.Key()]
	}
	return false, false
}
