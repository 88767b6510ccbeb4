package integrations

import (
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// into reports whether an apply was for the present base branch of a pull request, by the name of the branch; "" is unknown.
func into(branch string, p github.PullRequest) bool { return branch == "" || branch == p.Base.Ref }

// mergeDue reports whether an open pull request has nothing left but its merge: its present head was looked at, some project of it
// is applied, and all others that the head touches are, too, or have no changes: one whose former apply has just ended has no
// plan of it yet. An apply of a part is none. A draft, a pull request from a fork, one that cannot be merged, and one with mistakes in policies are left
// alone, and so is one that was applied for another base branch. kept are the keys of runs to whose states the pull request was
// applied last: a plan without changes after that is of an applied project.
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

// appliedAt reports whether nothing is left to be applied of a run at a head, and whether that is since the pull request was applied.
func appliedAt(r runs.Run, head string, p github.PullRequest, kept map[string]bool) (done, applied bool) {
	switch {
	case r.Spec.Head != head:
		return false, false
	case r.Phase == runs.Applied && runs.Complete(r) && into(r.Asked.Into, p):
		return true, true
	case r.Phase == runs.Planned && !r.Plan.Applyable && runs.Complete(r), runs.KeepsOutcome(r):
		return true, kept[r.Key()]
	}
	return false, false
}
