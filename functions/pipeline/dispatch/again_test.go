package dispatch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// write writes the state of the project at the root, as somebody with a command line does: under the
// next serial, with edits of its text, pairs of old and new.
func (s *stage) write(serial int, edits ...string) {
	s.t.Helper()
	name := filepath.Join(executor.LocalState(s.data.States, s.ref(1).Repo.ID, ".", "default"), "terraform.tfstate")
	data, err := os.ReadFile(name)
	if err != nil {
		s.t.Fatal(err)
	}
	edits = append(edits, fmt.Sprintf(`"serial": %d,`, serial), fmt.Sprintf(`"serial": %d,`, serial+1))
	for i := 0; i < len(edits); i += 2 {
		if !bytes.Contains(data, []byte(edits[i])) {
			s.t.Fatalf("the state has no %s:\n%s", edits[i], data)
		}
		data = bytes.ReplaceAll(data, []byte(edits[i]), []byte(edits[i+1]))
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// planned is a repository with a state, and a pull request with a plan for it.
func planned(t *testing.T) (s *stage, n int) {
	t.Helper()
	s = newStage(t, githubtest.Files{"main.tf": resource("vpc", "1")})
	return s, plannedOn(s)
}

// plannedOn is like [planned], on a stage.
func plannedOn(s *stage) (n int) {
	s.t.Helper()
	one := s.pull("alice", "first", githubtest.Files{"other.tf": resource("other", "1")})
	s.expect("the first apply", s.say("alice", one, "lockstep apply"), "**Applied**")
	s.repo.Merge("alice", one)
	s.settle()
	n = s.pull("bob", "second", githubtest.Files{"main.tf": resource("vpc", "2")})
	s.expect("the status", s.status(n), "0 to add, 1 to change, 0 to destroy")
	return n
}

// TestSameAfterAWrite holds that a write of the state which a plan has nothing to do with keeps its
// approval, and that people are told.
func TestSameAfterAWrite(t *testing.T) {
	t.Parallel()
	s, n := planned(t)
	known := s.hash(n)
	s.write(1)
	s.expect("the apply", s.say("bob", n, "lockstep apply "+known), "**Applied** `.`: 0 added, 1 changed, 0 destroyed.",
		"Planned again, because")
	r := s.run(n)
	if r.Plan.Hash[:12] != known || r.Plan.Again == "" || r.Plan.Again == r.Plan.Hash || len(r.Plan.Settled) != 1 {
		t.Errorf("the record has %s, and %s, which was applied in its place, for %+v", r.Plan.Hash, r.Plan.Again, r.Plan.Settled)
	}
}

// TestSameAfterAWriteAtOnce is like [TestSameAfterAWrite], with a shared check run that another process has read before and writes
// last. It holds that the apply does not go on before the check run has the hash of the new plan.
func TestSameAfterAWriteAtOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("vpc", "1")})
	s.pipeline.OwnChecks, s.pipeline.SharedSize = -1, 3
	n := plannedOn(s)
	s.write(1)
	var older []byte
	overwritten := 0
	s.fault = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPatch || !strings.Contains(r.URL.Path, "/check-runs") {
			return false
		}
		body, _ := io.ReadAll(r.Body)
		var check struct{ Output struct{ Text string } }
		if json.Unmarshal(body, &check) == nil && strings.Contains(string(body), "projects ") {
			switch again := markdown.ProofsIn(check.Output.Text).Of(s.run(n).Target()).Again; {
			case again == "":
				older = body
			case overwritten == 0:
				overwritten++
				body = older
			}
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return false
	}
	found := ""
	off := s.before(first(writes("effect/", "")), func() {
		for _, c := range s.repo.Checks(s.repo.Head("second")) {
			if strings.HasPrefix(c.Name, "lockstep/projects ") {
				found = markdown.ProofsIn(c.Text).Of(s.run(n).Target()).Again
			}
		}
	})
	defer off()
	s.expect("the apply", s.say("bob", n, "lockstep apply"), "**Applied** `.`: 0 added, 1 changed, 0 destroyed.", "Planned again, because")
	if r := s.run(n); overwritten != 1 || found == "" || found != r.Plan.Again {
		t.Errorf("overwritten %d times; when the apply began, the check run had the plan %q that is applied instead, and not %q", overwritten, found, r.Plan.Again)
	}
}

// TestDifferentAfterAWrite holds that a write that changes a plan shows the difference, and that the
// new plan is applied by nobody who has not seen it.
func TestDifferentAfterAWrite(t *testing.T) {
	t.Parallel()
	s, n := planned(t)
	known := s.hash(n)
	s.write(1, `"input": {
              "value": "1"`, `"input": {
              "value": "0"`)
	again := s.repo.Comment("bob", n, "lockstep apply\nlockstep apply")
	s.settle()
	s.expect("the apply", s.answerTo(n, again), "**Not applied** `.`", "Lockstep planned again, because the state was written (serial 1, now 2).")
	if text := s.answerTo(n, again); strings.Contains(text, "**Applied**") {
		t.Errorf("it was applied:\n%s", text)
	}
	s.expect("the status", s.status(n), "ready to apply")
	s.expect("an apply of the former plan", s.say("bob", n, "lockstep apply "+known), "**Not applied** `.`", known)
	s.expect("an apply of the new one", s.say("bob", n, "lockstep apply "+s.hash(n)), "**Applied** `.`")
}

// TestTwoPlansAtOnce holds that of two pull requests planned side by side, the second one keeps its
// plan when the first one is applied and merged, though its files are in the same project.
func TestTwoPlansAtOnce(t *testing.T) {
	t.Parallel()
	s, n := planned(t)
	other := s.pull("alice", "third", githubtest.Files{"third.tf": resource("third", "1")})
	known := s.hash(n)
	s.expect("the first apply", s.say("alice", other, "lockstep apply"), "**Applied** `.`: 1 added")
	s.repo.Merge("alice", other)
	s.settle()
	s.expect("the second", s.say("bob", n, "lockstep apply "+known), "**Applied** `.`: 0 added, 1 changed, 0 destroyed.",
		"the configuration on the base branch has changed: `")
	s.repo.Merge("bob", n)
	s.settle()
	last := s.pull("alice", "last", githubtest.Files{"main.tf": "# words\n" + resource("vpc", "2")})
	s.expect("nothing is left", s.status(last), "no changes")
}

// TestChangedBlock holds that a block of the base branch which a plan depends on, and does not show
// as its value is not known yet, is another plan.
func TestChangedBlock(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("vpc", "1"), "names.tf": "locals {\n  prefix = \"good\"\n}\n"})
	n := s.pull("bob", "b", githubtest.Files{"b.tf": "resource \"terraform_data\" \"b\" {\n  input = \"${terraform_data.vpc.id}-${local.prefix}\"\n}\n"})
	s.repo.Push("mallory", "main", "Other names", githubtest.Files{"names.tf": "locals {\n  prefix = \"evil\"\n}\n"})
	s.expect("the apply", s.say("bob", n, "lockstep apply"), "**Not applied** `.`", "Lockstep planned again, because the configuration on the base branch has changed:")
	s.expect("the status", s.status(n), "# local.prefix\n- configuration: as it was planned\n+ configuration: changed", "ready to apply")
}

// lying is an engine that calls any plan the same.
type lying struct{ jobs.Engine }

func (l lying) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	return l.Engine.Apply(ctx, j, plan, func(now jobs.BeforeApply) jobs.Permit {
		if now.Again == nil {
			now.Again = &jobs.Replanned{Equal: true} // nothing was made again
		}
		return permit(now)
	})
}

// TestEqualityIsOfTheLockedState holds that a plan that is called the same, and is not of the state
// that is locked, is not applied.
func TestEqualityIsOfTheLockedState(t *testing.T) {
	t.Parallel()
	s, n := planned(t)
	s.write(1)
	s.pipeline.Engine = lying{s.pipeline.Engine}
	s.expect("the apply", s.say("bob", n, "lockstep apply"), "**Not applied** `.`")
}

// TestDeathAfterPlanningAgain holds that an apply which dies between its new plan and the first
// change is begun again, and one that has kept a new plan does not apply it.
func TestDeathAfterPlanningAgain(t *testing.T) {
	t.Parallel()
	s, n := planned(t)
	s.write(1)
	died := false
	engine := s.pipeline.Engine
	s.pipeline.Engine = during{engine, func(now jobs.BeforeApply) {
		if now.Again != nil && !died {
			died = true
			panic("death")
		}
	}}
	id := s.repo.Comment("bob", n, "lockstep apply")
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) (err error) {
		defer func() {
			if recover() != nil {
				err = context.DeadlineExceeded
			}
		}()
		return s.pipeline.Handle(ctx, m)
	})
	s.settle()
	if !died {
		t.Fatal("no plan was made again")
	}
	s.expect("the apply", s.answerTo(n, id), "**Applied** `.`: 0 added, 1 changed, 0 destroyed.")
}

// during does something before each answer to an engine.
type during struct {
	jobs.Engine
	do func(jobs.BeforeApply)
}

func (d during) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	return d.Engine.Apply(ctx, j, plan, func(now jobs.BeforeApply) jobs.Permit {
		d.do(now)
		return permit(now)
	})
}

// run is the record of the project at the root.
func (s *stage) run(n int) runs.Run {
	s.t.Helper()
	all, err := s.pipeline.Ledger().Runs(s.t.Context(), s.ref(n))
	if err != nil || len(all) != 1 {
		s.t.Fatalf("%d runs, %v", len(all), err)
	}
	return all[0].Run
}

// TestExchangedAgain carries out an attack: whoever may write plans and records has a run name
// another plan as the one that was made again in the place of its own.
func TestExchangedAgain(t *testing.T) {
	t.Parallel()
	r, n := rob(t)
	now := r.run(n)
	now.Plan.Again = now.Plan.Hash // for its name
	r.exchange(r.own.SavedPlan(), now.AppliedPlan())
	now.Plan.Again = r.own.Saved()
	r.writeRun(now)
	r.held(r.say("bob", n, "lockstep apply"), n, "The saved plan was replaced")
}
