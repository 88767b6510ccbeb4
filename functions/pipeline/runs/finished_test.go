package runs

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/project/order"
)

// TestFinished holds that nothing is left of a run whose rest the apply of another pull request has finished, and that one which is
// under way comes to its own end.
func TestFinished(t *testing.T) {
	t.Parallel()
	planned := Run{ID: ID{Project: "net"}, Phase: Planned, Spec: Spec{AfterMerge: true}, Plan: Plan{PlanSummary: comment.PlanSummary{Applyable: true}}}
	late := Run{ID: ID{Project: "net"}, Phase: Planned, Asked: Asked{Late: true, Try: 1}, Plan: Plan{PlanSummary: comment.PlanSummary{Applyable: true}}}.WithWaiting(Waiting{For: "merge"})
	for name, test := range map[string]struct {
		r    Run
		by   int
		want bool
	}{
		"a plan that waits":         {planned, 8, true},
		"an apply that waits":       {late, 8, true},
		"a plan that was dropped":   {Run{Phase: Dropped, Plan: Plan{PlanSummary: comment.PlanSummary{Applyable: true}}, End: End{Was: Planned, Fate: Merged}}, 8, true},
		"a plan that failed":        {Run{Phase: PlanFailed, Spec: Spec{AfterMerge: true}, Plan: Plan{Failure: &Failure{}}}, 8, true},
		"an apply that failed":      {Run{Phase: ApplyFailed}, 8, true},
		"nobody":                    {planned, 0, false},
		"a second time":             {Run{Phase: Planned, End: End{EndSummary: comment.EndSummary{FinishedBy: 8}}}, 9, false},
		"an apply that is queued":   {Run{Phase: ApplyQueued}, 8, false},
		"an apply":                  {Run{Phase: Applying}, 8, false},
		"a plan that is queued":     {Run{Phase: Queued}, 8, false},
		"a plan that is being made": {Run{Phase: Planning}, 8, false},
	} {
		done, ok := FinishedByAnother(test.r, test.by)
		if ok != test.want {
			t.Errorf("%s: %v", name, ok)
		}
		if !ok {
			continue
		}
		if got := done.Standing(); got != comment.NoChanges || Checkable(done) || done.Waiting() || done.failed() || done.progress() != order.Applied {
			t.Errorf("%s: it is %s, checkable %v, waiting %v, failed %v, %v", name, got, Checkable(done), done.Waiting(), done.failed(), done.progress())
		}
		if done.Phase.May(Queued) && done.To(Queued).End.FinishedBy != 0 {
			t.Errorf("%s: a new plan is finished", name)
		}
	}
}
