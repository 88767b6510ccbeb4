package dispatch_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// robber is somebody who may write records and artifacts, and has a plan of their own: of a
// pull request that nobody has reviewed. What GitHub shows they cannot write.
type robber struct {
	*stage
	own, victim runs.Run
}

// rob returns a robber of a stage with two pull requests: b, which people look at, and evil.
func rob(t *testing.T) (r robber, n int) {
	t.Helper()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n = s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	evil := s.pull("alice", "evil", githubtest.Files{"b.tf": resource("evil", "1")})
	r = robber{stage: s}
	r.victim, r.own = r.run(n), r.run(evil)
	return r, n
}

// exchange puts one artifact in another's place.
func (r robber) exchange(put, in pipeline.Artifact) {
	r.t.Helper()
	data, err := r.data.Artifacts.Get(r.t.Context(), put)
	if err == nil {
		err = r.data.Artifacts.Put(r.t.Context(), in, data)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// plan puts the robber's plan in the victim's place, and what it was made from.
func (r robber) plan() {
	r.t.Helper()
	r.exchange(r.own.SavedPlan(), r.victim.SavedPlan())
}

// record has the record of the victim's run speak of the robber's plan.
func (r robber) record() {
	r.t.Helper()
	now := r.run(r.victim.Pull.Number)
	now.Plan.Hash, now.Plan.Parts, now.Plan.State, now.Plan.Inputs = r.own.Plan.Hash, r.own.Plan.Parts, r.own.Plan.State, r.own.Plan.Inputs
	r.writeRun(now)
}

// writeRun writes the record of a run as it is.
func (r robber) writeRun(now runs.Run) {
	r.t.Helper()
	rec, err := r.records.Get(r.t.Context(), now.Key())
	if err != nil {
		r.t.Fatal(err)
	}
	value, err := json.Marshal(now)
	if err == nil {
		_, err = r.records.Put(r.t.Context(), now.Key(), value, rec.Version)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r robber) both() { r.plan(); r.record() }

// held says that nothing of the robber's was applied, that people were told what is wrong,
// and that a new plan helps.
func (r robber) held(answer string, n int, why ...string) {
	r.t.Helper()
	r.expect("the apply", answer, append([]string{"**Not applied** `.`", "Comment `lockstep plan`"}, why...)...)
	r.expect("a new plan", r.say("alice", n, "lockstep plan"), "**Planned** `.`: 2 to add")
	r.expect("its apply", r.say("bob", n, "lockstep apply"), "**Applied** `.`: 2 added")
	if all := strings.Join(r.hub.Lines(), "\n"); strings.Count(all, "applied by") > 1 {
		r.t.Errorf("there was another apply:\n%s", all)
	}
	r.expect("the robber's is still to be made", r.say("alice", r.own.Pull.Number, "lockstep plan"), "1 to add")
}

// before has something done before the first message of a kind is handled.
func (r robber) before(kind pipeline.Kind, do func()) {
	r.t.Helper()
	if _, err := r.hub.Deliver(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	r.drain(r.t.Context(), func(ctx context.Context, m pipeline.Message) error {
		if m.Kind == kind && do != nil {
			do()
			do = nil
		}
		return r.pipeline.Handle(ctx, m)
	})
	if do != nil {
		r.t.Fatalf("there was no message %s", kind)
	}
	r.settle()
}

// TestExchangedPlan carries out attacks: whoever may write where plans are kept puts another
// plan there, or writes the record as well, at each time at which they can. It holds that
// the plan is not applied.
func TestExchangedPlan(t *testing.T) {
	t.Parallel()
	const notMade, notShown = "The saved plan was replaced", "This plan is not the one you saw"
	t.Run("plan", func(t *testing.T) {
		t.Parallel()
		r, n := rob(t)
		r.plan()
		answer := r.say("bob", n, "lockstep apply "+r.victim.Plan.Hash)
		r.expect("the check", r.check("b"), "out of date")
		r.held(answer, n, notMade)
	})
	t.Run("record", func(t *testing.T) {
		t.Parallel()
		r, n := rob(t)
		r.both()
		answer := r.say("bob", n, "lockstep apply")
		r.held(answer, n, notShown)
	})
	t.Run("while_it_waits", func(t *testing.T) {
		t.Parallel()
		r, n := rob(t)
		id := r.repo.Comment("bob", n, "lockstep apply")
		r.before(pipeline.ToApply, r.both)
		r.held(r.answerTo(n, id), n, notShown)
	})
	t.Run("under_the_lock", func(t *testing.T) {
		t.Parallel()
		r, n := rob(t)
		r.pipeline.Engine = reading{r.pipeline.Engine, r.record}
		r.expect("the apply", r.say("bob", n, "lockstep apply"), "**Not applied** `.`", notMade)
	})
	t.Run("and_told_again", func(t *testing.T) {
		t.Parallel()
		r, n := rob(t)
		// An apply that is refused for something else has the check written anew.
		id := r.repo.Comment("bob", n, "lockstep apply")
		r.before(pipeline.ToApply, func() { r.both(); r.repo.Grant("bob", "read") })
		r.expect("the apply", r.answerTo(n, id), "**Not applied** `.`", "has the permission `read`")
		r.repo.Grant("bob", "write")
		r.held(r.say("bob", n, "lockstep apply"), n, notShown)
	})
	t.Run("inputs", func(t *testing.T) {
		t.Parallel()
		r, n := rob(t)
		r.exchange(r.own.InputsRecord(), r.victim.InputsRecord())
		r.held(r.say("bob", n, "lockstep apply"), n, "The files that Lockstep stored for this plan were changed later: `it was exchanged: the inputs of .")
	})
	t.Run("parts", func(t *testing.T) {
		t.Parallel()
		r, n := rob(t)
		// The plan stays, and is to fit the state as it will be after another apply.
		now := r.run(n)
		now.Plan.State.Serial++
		r.writeRun(now)
		r.held(r.say("bob", n, "lockstep apply"), n, "the state of the plan is not the one in its hash")
	})
	t.Run("report", func(t *testing.T) {
		t.Parallel()
		r, n := rob(t)
		r.exchange(r.own.Report(), r.victim.Report())
		r.say("mallory", n, "lockstep plan") // has the status written anew
		r.expect("the status", r.status(n), "The stored plan was replaced")
		if strings.Contains(r.status(n), "evil") {
			t.Errorf("it is shown:\n%s", r.status(n))
		}
	})
}

// reading does something when the state is locked, before the pipeline is asked about it.
type reading struct {
	jobs.Engine
	meanwhile func()
}

func (e reading) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	return e.Engine.Apply(ctx, j, plan, func(s jobs.BeforeApply) jobs.Permit {
		e.meanwhile()
		return permit(s)
	})
}
