package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/run"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// faults lets one write fail: the nth of all, to whichever socket. It fails before it is
// done, or after, as when a process dies in between, or an answer is lost.
type faults struct {
	at    int // counted from 0; negative: none
	after bool
	n     int
	died  string // what failed
}

var errDown = errors.New("it is down")

func (f *faults) write(what string, do func() error) error {
	hit := f.n == f.at
	f.n++
	if !hit {
		return do()
	}
	f.died = what
	if f.after {
		if err := do(); err != nil {
			return err
		}
	}
	return errDown
}

type faultyRecords struct {
	run.Records
	*faults
}

func (r faultyRecords) Put(ctx context.Context, key string, value []byte, prev run.Version) (v run.Version, err error) {
	err = r.write("put "+key, func() (err error) {
		v, err = r.Records.Put(ctx, key, value, prev)
		return err
	})
	if err != nil {
		v = ""
	}
	return v, err
}

func (r faultyRecords) Delete(ctx context.Context, key string, prev run.Version) error {
	return r.write("delete "+key, func() error { return r.Records.Delete(ctx, key, prev) })
}

type faultyArtifacts struct {
	run.Artifacts
	*faults
}

func (x faultyArtifacts) Put(ctx context.Context, a run.Artifact, data []byte) error {
	return x.write("put artifact "+a.Key, func() error { return x.Artifacts.Put(ctx, a, data) })
}

func (x faultyArtifacts) Delete(ctx context.Context, a run.Artifact) error {
	return x.write("delete artifact "+a.Key, func() error { return x.Artifacts.Delete(ctx, a) })
}

type faultyQueue struct {
	run.Queue
	*faults
}

func (q faultyQueue) Send(ctx context.Context, m run.Message) error {
	return q.write("send "+string(m.Kind), func() error { return q.Queue.Send(ctx, m) })
}

type faultyGitHub struct {
	run.GitHub
	*faults
}

func (h faultyGitHub) PutComment(ctx context.Context, number int, marker, body string) (id int64, err error) {
	err = h.write("put comment "+marker, func() (err error) {
		id, err = h.GitHub.PutComment(ctx, number, marker, body)
		return err
	})
	return id, err
}

func (h faultyGitHub) React(ctx context.Context, comment int64, r github.Reaction) error {
	return h.write("react "+string(r), func() error { return h.GitHub.React(ctx, comment, r) })
}

func (h faultyGitHub) PutCheck(ctx context.Context, id int64, c github.Check) (out int64, err error) {
	err = h.write("put check "+c.Title, func() (err error) {
		out, err = h.GitHub.PutCheck(ctx, id, c)
		return err
	})
	return out, err
}

// use puts the faults between the pipeline and its sockets.
func (f *faults) use(s *stage) {
	p, connect := s.pipeline, s.pipeline.Connect
	p.Records, p.Artifacts, p.Queue = faultyRecords{p.Records, f}, faultyArtifacts{p.Artifacts, f}, faultyQueue{p.Queue, f}
	p.Connect = func(pull run.Pull) (run.GitHub, error) {
		hub, err := connect(pull)
		return faultyGitHub{hub, f}, err
	}
	s.webhook.Log = func(error) {}
}

// TestDeathAtEachWrite tells the main story, from the push to the merge, with each of
// its writes failing in turn, before and after it is done. Handling the same again must
// come to the same end: the same conversation, the same checks, everything made once.
func TestDeathAtEachWrite(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		t.Run(fmt.Sprintf("after=%v", after), func(t *testing.T) {
			t.Parallel()
			for at := 0; ; at++ {
				f := &faults{at: at, after: after}
				if !mainStory(t, f) {
					if at < 60 {
						t.Errorf("only %d writes", at)
					}
					return
				}
			}
		})
	}
}

// mainStory reports whether the fault was met.
func mainStory(t *testing.T, f *faults) bool {
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	f.use(s)
	s.repo.Push("alice", "b", "B", githubtest.Files{"b.tf": resource("b", "1")})
	n := s.repo.OpenPull("alice", "B", "b")
	s.stubborn()
	s.expect(fmt.Sprintf("death at %s (done: %v): the plan", f.died, f.after), s.status(n)+s.check("b"), "To apply this plan", "success 2 to add")
	id := s.repo.Comment("alice", n, "lockstep apply")
	s.stubborn()
	name := fmt.Sprintf("death at %s (done: %v)", f.died, f.after)
	// Where the death is between the beginning of the apply and the note of its end,
	// nobody can know what was done, and that is what has to be said.
	unknown := strings.Contains(s.status(n), "could not apply") && strings.Contains(s.answerTo(n, id), "look at the new plan with care") &&
		strings.HasPrefix(f.died, "put effect/")
	if !unknown {
		s.expect(name+": the status", s.status(n), "has applied")
		s.expect(name+": the answer", s.answerTo(n, id), "**Applied** `.`: 2 added")
		s.expect(name+": the check", s.check("b"), "success Applied: 2 added")
	}
	if got := made(t, s); got != "serial 1: a b" {
		t.Errorf("%s: the state has %s", name, got)
	}
	if got := len(s.repo.Comments(n)); got != 3 {
		t.Errorf("%s: %d comments", name, got)
	}
	if got := len(s.repo.Checks(s.repo.Head("b"))); got != 1 {
		t.Errorf("%s: %d check runs", name, got)
	}
	s.repo.Merge("alice", n)
	s.stubborn()
	if got := artifacts(t, s); len(got) != 0 {
		t.Errorf("%s: kept after the merge: %q", name, got)
	}
	if list, err := s.data.Records.List(t.Context(), "lease"); err != nil || len(list) != 0 {
		t.Errorf("%s: leases that are left: %v, %v", name, list, err)
	}
	return f.died != ""
}

// stubborn delivers and handles until nothing is left, whatever fails.
func (s *stage) stubborn() {
	s.t.Helper()
	for range 5 {
		_, err := s.hub.Deliver(s.t.Context())
		if err != nil {
			for _, id := range s.hub.Deliveries() {
				s.hub.Redeliver(s.t.Context(), id)
			}
		}
		if s.drain(s.t.Context(), s.pipeline.Handle) == 0 && err == nil {
			return
		}
	}
	s.t.Fatal("it does not come to an end")
}

// made names what the state of the one project has.
func made(t *testing.T, s *stage) string {
	data, err := os.ReadFile(filepath.Join(s.data.States, "acme", "infra", "%2E", "default", "terraform.tfstate"))
	if err != nil {
		return err.Error()
	}
	var state struct {
		Serial    int
		Resources []struct{ Name string }
	}
	if err := json.Unmarshal(data, &state); err != nil {
		t.Fatal(err)
	}
	out := fmt.Sprintf("serial %d:", state.Serial)
	for _, r := range state.Resources {
		out += " " + r.Name
	}
	return out
}
