package integrations

import (
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// forBase reports whether an apply was for the present base branch of a pull request. branch is the name of the
// apply's base branch; if it is "", the branch is unknown, and forBase returns true.
func forBase(branch string, p github.PullRequest) bool { return branch == "" || branch == p.Base.Ref }

// mergeDue reports whether only the merge of an open pull request is left to do. It is true under three
// conditions. The last look was at the present head. At least one project is applied. All other projects that
// the head touches are applied or have no changes. A project without a plan of the head is not done, and
// neither is a project that was applied only in part.
//
// It is false for drafts, for pull requests from forks, with conflicts or with broken policies, and for those
// that were applied for another base branch. kept are the keys of the runs to whose states the pull request was
// applied last. If such a run's plan has no changes, its project counts as applied.
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

// appliedAt reports in done whether a run has nothing left to apply at a head. It reports in applied whether
// the pull request was applied to the run's state.
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
