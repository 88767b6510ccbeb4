package dispatch_test

import (
	"fmt"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// TestExchangedPlanByARepeatedMessage is an attack: whoever may write records and plans puts an older plan back. Then the message for
// the plan comes once more, which the queue allows. Its process has made no plan, so it must not name that of the record.
func TestExchangedPlanByARepeatedMessage(t *testing.T) {
	t.Parallel()
	for robbed, shared := range map[string]bool{"a": false, "c": true} {
		t.Run(fmt.Sprintf("shared %v", shared), func(t *testing.T) {
			t.Parallel()
			s := newSharing(t, "a b c d")
			n := s.pull("alice", "one", in("a b c d", "1"))
			old := s.runAt(n, robbed)
			saved := map[bool][]byte{}
			for plan, a := range map[bool]pipeline.Artifact{true: old.SavedPlan(), false: old.InputsRecord()} {
				data, err := s.data.Artifacts.Get(t.Context(), a)
				if err != nil {
					t.Fatal(err)
				}
				saved[plan] = data
			}
			var held []pipeline.Message
			s.repo.Comment("alice", n, "lockstep plan -p "+robbed+" -target=terraform_data."+robbed)
			s.settleKeeping(func(m pipeline.Message) bool {
				if m.Kind == pipeline.ToPlan {
					held = append(held, m)
				}
				return m.Kind == pipeline.ToPlan
			})
			handle := func() {
				for _, m := range held {
					if err := s.pipeline.Handle(t.Context(), m); err != nil {
						t.Fatal(err)
					}
				}
				s.settle()
			}
			handle()
			r := robber{stage: s, victim: s.runAt(n, robbed)}
			if len(held) != 1 || r.victim.Plan.Hash == old.Plan.Hash {
				t.Fatalf("%d messages, the plan is %s", len(held), r.victim.Plan.Hash)
			}
			for plan, a := range map[bool]pipeline.Artifact{true: r.victim.SavedPlan(), false: r.victim.InputsRecord()} {
				if err := s.data.Artifacts.Put(t.Context(), a, saved[plan]); err != nil {
					t.Fatal(err)
				}
			}
			now := r.victim
			now.Plan, now.Spec.Options = old.Plan, old.Spec.Options
			r.writeRun(now)
			held[0].ID += "-again" // the record that the message was handled can be deleted, too
			handle()
			s.say("bob", n, "lockstep plan -p b") // writes the shared check runs
			answer := s.say("bob", n, "lockstep apply -p "+robbed+" "+old.Plan.Hash)
			s.without("the apply", answer, "**Applied**")
			t.Log(answer)
		})
	}
}
