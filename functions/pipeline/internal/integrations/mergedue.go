package integrations

import (
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// forBase reports whether an apply was for the present base branch of a pull request. branch is the name of the
// base branch of the apply; "" is unknown, and counts.
func forBase(branch string, p github.PullRequest) bool { return branch == "" || branch == p.Base.Ref }

// mergeDue reports whether only the merge of an open pull request is left to do. Its present head was looked
// at. At least one project is applied. All other projects that the head touches are applied, too, or have no
// changes. A project whose earlier apply has just ended has no plan of the head yet, and the apply of a part
// does not count.
//
// These pull requests are left alone: drafts, those from forks, those that cannot be merged, those with broken
// policies, and those that were applied for another base branch. kept are the keys of the runs to whose states
// the pull request was applied last. If such a run's plan has no changes, its project counts as applied.
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

// appliedAt reports whether a run has nothing left to apply at a head, and whether the pull request was applied
// for that.
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
