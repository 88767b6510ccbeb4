package dispatch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// TestExchangedPlanByATwin is an attack: whoever may write records and plans puts another plan into the run of a project, and opens a
// pull request with the same head. The process that plans the twin writes the check run of the first pull request once more, and must
// not take the hash of a plan from its record.
func TestExchangedPlanByATwin(t *testing.T) {
	t.Parallel()
	for robbed, shared := range map[string]bool{"a": false, "c": true} {
		t.Run(fmt.Sprintf("shared %v", shared), func(t *testing.T) {
			t.Parallel()
			s := newSharing(t, "a b c d")
			for _, branch := range []string{"one", "twin"} {
				s.repo.Push("GitHub", branch, "Change", in("a b c d", "1"))
			}
			n := s.repo.OpenPull("alice", "Change", "one")
			s.settle()
			twin := s.repo.OpenPull("alice", "Change", "twin")
			s.settle()
			old := s.runAt(n, robbed)
			if old.Spec.Shared.IsZero() == shared {
				t.Fatal("it has another kind of check run")
			}
			saved := map[bool][]byte{}
			for plan, a := range map[bool]pipeline.Artifact{true: old.SavedPlan(), false: old.InputsRecord()} {
				data, err := s.data.Artifacts.Get(t.Context(), a)
				if err != nil {
					t.Fatal(err)
				}
				saved[plan] = data
			}
			s.expect("the plan that people see", s.say("alice", n, "lockstep plan -p "+robbed+" -target=terraform_data."+robbed), "**Planned** `"+robbed+"`: 1 to add")
			r := robber{stage: s, victim: s.runAt(n, robbed)}
			for plan, a := range map[bool]pipeline.Artifact{true: r.victim.SavedPlan(), false: r.victim.InputsRecord()} {
				if err := s.data.Artifacts.Put(t.Context(), a, saved[plan]); err != nil {
					t.Fatal(err)
				}
			}
			now := r.victim
			now.Plan, now.Spec.Options = old.Plan, old.Spec.Options
			r.writeRun(now)
			// The twin is queued. Before its process begins, the record of the victim's check says that it shows something else.
			var held []pipeline.Message
			s.repo.Comment("bob", twin, "lockstep plan -p "+robbed)
			s.settleKeeping(func(m pipeline.Message) bool {
				if m.Kind == pipeline.ToPlan {
					held = append(held, m)
				}
				return m.Kind == pipeline.ToPlan
			})
			rec, err := s.records.Get(t.Context(), runs.CheckKey(r.victim))
			if err != nil {
				t.Fatal(err)
			}
			c, err := runs.DecodeCheck(rec.Value)
			if err != nil {
				t.Fatal(err)
			}
			c.Shown = "failure"
			if _, err := s.records.Put(t.Context(), rec.Key, pipeline.Encode(c), rec.Version); err != nil {
				t.Fatal(err)
			}
			for _, m := range held {
				if err := s.pipeline.Handle(t.Context(), m); err != nil {
					t.Fatal(err)
				}
			}
			s.settle()
			s.say("bob", n, "lockstep plan -p b") // writes the shared check runs
			shown := ""
			for _, c := range s.repo.Checks(s.repo.Head("one")) {
				if shared && c.Name == "lockstep/projects 3-5 (#1)" {
					shown = markdown.ProofsIn(c.Text).Of(now.Target()).Hash
				} else if !shared && c.Name == "lockstep/"+robbed && strings.HasPrefix(c.ExternalID, "1/") {
					shown = markdown.PlanIn(c.Summary)
				}
			}
			if shown != r.victim.Plan.Hash {
				t.Errorf("the check run on GitHub names the plan %.12s of the changed record, and not %.12s", shown, r.victim.Plan.Hash)
			}
			answer := s.say("bob", n, "lockstep apply -p "+robbed+" "+old.Plan.Hash)
			s.without("the apply", answer, "**Applied**")
			t.Log(answer)
		})
	}
}
