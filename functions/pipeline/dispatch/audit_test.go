package dispatch_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/audit"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// links returns the records of the only chain.
func (s *stage) links() (out []audit.Record) {
	s.t.Helper()
	for _, records := range s.chains.All() {
		for _, data := range records {
			r, err := audit.Decode(data)
			if err != nil {
				s.t.Fatal(err)
			}
			out = append(out, r)
		}
	}
	return out
}

// recorded returns the events of the only chain, in their order, with who asked.
func (s *stage) recorded() (out []string) {
	for _, r := range s.links() {
		out = append(out, fmt.Sprintf("%s %s", r.By, r.Event))
	}
	return out
}

// TestUnrecorded is the story of an audit store that refuses all records. No command takes effect that would have to be
// recorded, and each answer says so. After the store is repaired, the same commands work, and all is recorded.
func TestUnrecorded(t *testing.T) {
	t.Parallel()
	s, n := led(t, "  approvals = 1\n  labels = [\"swordfish\"]")
	s.pipeline.Secrets = []github.Secret{github.NewSecret("swordfish")}
	s.lockable()
	engine := &doubting{Engine: s.pipeline.Engine}
	s.pipeline.Engine = engine
	repaired := s.gate(memory.Deciding(func(x memory.Effect) (v memory.Verdict) {
		if strings.HasPrefix(x.Call, "add ") {
			v.Undone = fmt.Errorf("%w: access denied", pipeline.ErrRefused)
		}
		return v
	}))
	const because = "The audit record of this command could not be written, so nothing was changed: "
	s.expect("a refusal is one without a record", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "an approval of the planned commit")
	s.expect("a lock", s.say("alice", n, "lockstep lock --reason \"a test\""), "**Not locked** `net`", because, "access denied", "comment `lockstep lock")
	s.expect("an unlock", s.say("alice", n, "lockstep unlock"), "**Not unlocked** `net`", because)
	s.expect("a recovery", s.say("alice", n, "lockstep recover"), "**Not recovered** `net`", because)
	s.expect("an override", s.say("zoe", n, override), "**Not overridden** `net`", because, "comment `lockstep override")
	s.repo.Review("bob", n, github.Approved, "")
	s.repo.Label("alice", n, "swordfish")
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", because, "Ask an operator of Lockstep to look at the audit bucket.", "comment `lockstep apply -p net`")
	if engine.n != 0 || len(s.recorded()) > 0 {
		t.Errorf("%d recoveries, recorded %q", engine.n, s.recorded())
	}

	repaired()
	s.repo.Unlabel("alice", n, "swordfish")
	s.expect("a refusal", s.say("alice", n, "lockstep apply"), "**Not applied** `net`")
	if r := s.links()[0]; strings.Contains(r.Reasons, "swordfish") || !strings.Contains(r.Reasons, "an approval of the planned commit") {
		t.Errorf("the reasons of the refusal: %s", r.Reasons)
	}
	s.expect("a lock", s.say("alice", n, "lockstep lock --reason \"a test\""), "**Locked** `net`")
	s.expect("an unlock", s.say("alice", n, "lockstep unlock"), "**Unlocked** `net`")
	s.expect("an override", s.say("zoe", n, override), "**Requirements overridden** for the plan of `net`")

	// The end of an apply is recorded before people read of it.
	down := true
	var early bool
	off := s.gate(memory.Deciding(func(x memory.Effect) (v memory.Verdict) {
		if data, _ := x.With.([]byte); down && strings.HasPrefix(x.Call, "add ") && strings.Contains(string(data), `"apply ended"`) {
			v.Undone = errors.New("the store is down")
			early = early || strings.Contains(s.status(n), "2 added")
			down = false
		}
		return v
	}))
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
	off()
	if early || down {
		t.Errorf("the result was reported before its record: %v; the end was recorded: %v", early, !down)
	}
	want := []string{"alice apply refused", "alice lock allowed", "alice unlock allowed", "zoe override allowed", "alice apply allowed", "alice apply ended"}
	if got := s.recorded(); !slices.Equal(got, want) {
		t.Errorf("recorded %q; want %q", got, want)
	}
}

// TestUnrecordedPlanMadeAgain holds that an apply with a plan made again, which could not be recorded at first, is proven
// later: the next try finds the plan made again, and makes none. [stage.verifyChains] looks at the records.
func TestUnrecordedPlanMadeAgain(t *testing.T) {
	t.Parallel()
	s, n := planned(t)
	known := s.hash(n)
	s.write(1)
	repaired := s.gate(memory.Deciding(func(x memory.Effect) (v memory.Verdict) {
		if data, _ := x.With.([]byte); strings.HasPrefix(x.Call, "add ") && strings.Contains(string(data), `"apply allowed"`) {
			v.Undone = fmt.Errorf("%w: access denied", pipeline.ErrRefused)
		}
		return v
	}))
	s.expect("the first try", s.say("bob", n, "lockstep apply "+known), "**Not applied** `.`", "access denied")
	repaired()
	s.expect("the apply", s.say("bob", n, "lockstep apply "+known), "**Applied** `.`: 0 added, 1 changed, 0 destroyed.")
	all := s.links()
	if end := all[len(all)-1]; !end.Again || end.Event != audit.ApplyEnded {
		t.Errorf("the end: %+v", end)
	}
}

// TestAuditCosts holds that an apply costs two writes to the audit store. The first apply to a state also looks for a
// last record; later ones read nothing while the record of the apply before is younger than a day.
func TestAuditCosts(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	for i := range 3 {
		var calls []string
		off := s.gate(memory.Deciding(func(x memory.Effect) (v memory.Verdict) {
			for _, call := range []string{"add ", "link ", "last "} {
				if strings.HasPrefix(x.Call, call) {
					calls = append(calls, x.Call)
				}
			}
			return v
		}))
		name := fmt.Sprint("b", i)
		n := s.pull("alice", name, githubtest.Files{name + ".tf": resource(name, "1")})
		s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied**")
		s.repo.Merge("alice", n)
		s.settle()
		off()
		if want := map[bool]int{true: 3, false: 2}[i == 0]; len(calls) != want {
			t.Errorf("apply %d: %q", i+1, calls)
		}
	}
}
