package runs

import (
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
)

// TestKeeps holds which plans a run keeps while a plan with options is made, and what the run is after that fails.
func TestKeeps(t *testing.T) {
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	target := grammar.Parse("lockstep plan -target=x.a")[0].Command.Options
	good := Run{Phase: Planned, Spec: Spec{Head: "h", Merge: "m"}, Asked: Asked{Attempt: 1, By: "bob", Answer: "3"}, Artifacts: Artifacts{Begun: 4}}
	good.Plan.Hash, good.Plan.Applyable, good.Plan.Counts = "hash", true, counting.Counts{Add: 1}
	with := Spec{Head: "h", Merge: "m2", Options: target}
	part := good.Queue(with, Asked{By: "alice", Answer: "5"}, noon)
	for name, c := range map[string]struct {
		was  Run
		next Spec
		want bool
	}{
		"options":                     {good, with, true},
		"options after options":       {part, with, true},
		"while that is being planned": {part.To(Planning), with, true},
		"a plan of everything":        {part, Spec{Head: "h"}, false},
		"a newer head":                {part, Spec{Head: "h2", Options: target}, false},
		"after the merge":             {good, Spec{Head: "h", AfterMerge: true, Options: target}, false},
		"a failure":                   {Run{Phase: PlanFailed, Spec: good.Spec}, with, false},
		"nothing to apply":            {Run{Phase: Planned, Spec: good.Spec}, with, false},
	} {
		if got := c.was.Queue(c.next, Asked{}, noon).Kept; (got != nil) != c.want {
			t.Errorf("%s: keeps %+v", name, got)
		}
	}
	if good.ReplacedBy() != 1 || part.ReplacedBy() != 0 || part.To(Planning).ReplacedBy() != 0 {
		t.Errorf("replaced by %d, %d", good.ReplacedBy(), part.ReplacedBy())
	}
	part.Asked.ThenApply = 1
	part.Artifacts.Begun = part.NextBegun()
	for name, r := range map[string]Run{"queued": part, "planning": part.To(Planning)} {
		got := r.Return(noon.Add(time.Hour))
		if got.Phase != Planned || got.Plan.Hash != "hash" || got.Spec.Merge != "m" || !got.Spec.Options.IsZero() || got.Artifacts.Begun != 4 || got.NextBegun() != 6 {
			t.Errorf("%s: %+v", name, got)
		}
		if got.Asked.By != "bob" || got.Asked.Answer != "" || got.Asked.ThenApply != 0 || got.Asked.Attempt != 2 || got.Kept != nil || got.ReplacedBy() != 0 {
			t.Errorf("%s: asked %+v, keeps %+v", name, got.Asked, got.Kept)
		}
		if len(got.History) != 1 || got.History[0].Standing != comment.PlanFailed || got.History[0].Actor != "alice" || got.History[0].Comment != 5 {
			t.Errorf("%s: history %+v", name, got.History)
		}
	}
}

// TestReturnWithLongHistory holds that the failure is in the history, and the kept plan is not, when the history is as
// long as it can be.
func TestReturnWithLongHistory(t *testing.T) {
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	target := grammar.Parse("lockstep plan -target=x.a")[0].Command.Options
	r := Run{Phase: Planned, Spec: Spec{Head: "h"}}
	r.Plan.Hash, r.Plan.Applyable = "hash", true
	for range maxHistory {
		r.History = append(r.History, comment.Past{Head: "old", Outcome: comment.Outcome{Standing: comment.PlanFailed}})
	}
	got := r.Queue(Spec{Head: "h", Options: target}, Asked{}, noon).Return(noon).History
	for i, p := range got {
		want := "old"
		if i == len(got)-1 {
			want = "h"
		}
		if p.Head != want || p.Standing != comment.PlanFailed {
			t.Errorf("%d of %d: %s of %s", i, len(got), p.Standing, p.Head)
		}
	}
}
