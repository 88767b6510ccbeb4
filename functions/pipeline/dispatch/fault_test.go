package dispatch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// A fault is how a call can fail.
type fault string

const (
	undone fault = "fails before it is done" // as when a process dies
	done   fault = "fails after it is done"  // as when an answer is lost
	unread fault = "cannot be read"
)

// faults lets one call fail: the nth write of all, to whichever socket, or, with ways, the first call that they claim.
type faults struct {
	at   int // counted from 0; negative: none
	new  *ways
	how  fault
	n    int
	died string // what failed
}

var errDown = errors.New("it is down")

// gate is before the sockets of the pipeline.
func (f *faults) gate() memory.Gate {
	return memory.Deciding(func(x memory.Effect) (v memory.Verdict) {
		switch {
		case x.Reads != (f.how == unread) || !f.hit(x.Call):
		case f.how == done:
			v.Done = errDown
		default: // a read works from then on
			v.Undone = errDown
		}
		return v
	})
}

func (f *faults) hit(what string) bool {
	hit := f.n == f.at
	if f.new != nil {
		hit = f.died == "" && f.new.claim(f.how)
	}
	if f.n++; hit {
		f.died = what
	}
	return hit
}

// ways are those through the pipeline to the calls of its sockets, by which a call has failed.
type ways struct{ known sync.Map }

// claim reports whether the present call is to fail. A write fails once by each way. A read fails if its way has a line that no
// failed read had: what a line makes of such an error is the same for all calls below it.
func (w *ways) claim(how fault) bool {
	var callers [64]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	var way strings.Builder
	claimed := false
	for {
		f, more := frames.Next()
		if strings.Contains(f.File, "/functions/") && !strings.HasSuffix(f.File, "_test.go") {
			line := fmt.Sprintf("%s:%d ", f.File, f.Line)
			way.WriteString(line)
			claimed = how == unread && w.isNew(line) || claimed
		}
		if !more {
			break
		}
	}
	return claimed || how != unread && w.isNew(way.String()+string(how))
}

// isNew reports whether a key is new, and adds it.
func (w *ways) isNew(key string) bool {
	_, was := w.known.LoadOrStore(key, true)
	return !was
}

// String names the death for errors.
func (f *faults) String() string { return fmt.Sprintf("%q %s", f.died, f.how) }

// use puts the faults between the pipeline and its sockets.
func (f *faults) use(s *stage) {
	s.unchecked = f.at > 0
	s.gate(f.gate())
	s.webhook.Log = func(error) {}
}

// TestDeathAtEachCall tells stories of the road with their calls failing in turn: writes before and after they are done, and
// reads, by every new way to them. Handling the same again must come to the same end: the same conversation, the same checks,
// everything made once. Package storytest has each fault of a read that one package makes, and looks at the records, too.
func TestDeathAtEachCall(t *testing.T) {
	t.Parallel()
	var found ways
	for name, tell := range map[string]func(*testing.T, *faults){
		"apply": applyStory, "merge": mergeStory, "unlock": unlockStory, "parts": partsStory, "stop": stopStory, "check": checkStory,
		"hooks": hooksStory, "notify": notifyStory, "deploy": deployStory, "build": buildStory, "builds": buildPartsStory, "queue": queueStory, "fork": forkStory, "steps": stepsStory, "image": imageStory,
	} {
		for _, how := range []fault{undone, done, unread} {
			t.Run(name+"/"+string(how), func(t *testing.T) {
				t.Parallel()
				for at, died := 0, true; died; at++ {
					f := &faults{at: at, new: &found, how: how}
					t.Run(strconv.Itoa(at), func(t *testing.T) { tell(t, f) }) // what a story has is gone with its test
					died = f.died != ""
				}
			})
		}
	}
}

// applyStory goes from the push, by a comment, to the merge.
func applyStory(t *testing.T, f *faults) {
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	f.use(s)
	s.repo.Push("alice", "b", "B", githubtest.Files{"b.tf": resource("b", "1")})
	n := s.repo.OpenPull("alice", "B", "b")
	s.stubborn()
	s.expect(f.String()+": the plan", s.status(n)+s.check("b"), "To apply this plan", "success Ready to apply – 2 to add", "head lockstep: neutral 1 project ready to apply – 2 to add")
	id := s.repo.Comment("alice", n, "lockstep apply")
	s.stubborn()
	s.appliedOnce(f, n, ".", s.answerTo(n, id), 3)
	s.repo.Merge("alice", n)
	s.stubborn()
	s.tidy(f)
	if got := usable(artifacts(t, s)); len(got) != 0 {
		t.Errorf("%v: kept after the merge: %q", f, got)
	}
}

// mergeStory is of a merge, which applies.
func mergeStory(t *testing.T, f *faults) {
	s := newStage(t, onMerge())
	n := s.pull("alice", "b", githubtest.Files{"net/subnet.tf": resource("subnet", "1")})
	f.use(s)
	s.repo.Merge("alice", n)
	s.stubborn()
	s.appliedOnce(f, n, "net", s.answer(n, "merge"), 2)
	s.tidy(f)
	for _, name := range artifacts(t, s) {
		if strings.HasSuffix(name, "/plan") {
			t.Errorf("%v: a saved plan is kept: %s", f, name)
		}
	}
}

// unlockStory has a lock released that a run left.
func unlockStory(t *testing.T, f *faults) {
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	f.use(s)
	w := s.lockable()
	s.lock(w, "sbx_user1051@169.254.0.1", ofRun(n))
	id := s.repo.Comment("bob", n, "lockstep unlock")
	s.stubborn()
	answer := s.answerTo(n, id)
	// Who dies after it is unlocked, and before that is noted, finds nothing locked.
	if !strings.Contains(answer, "**Unlocked** `.`") && !(strings.Contains(f.died, " ask/") && strings.Contains(answer, "**no lock**")) {
		t.Errorf("%v: the answer is %s", f, answer)
	}
	if got := s.locks(w); got != 0 {
		t.Errorf("%v: %d locks", f, got)
	}
	if got := len(s.repo.Comments(n)); got != 3 {
		t.Errorf("%v: %d comments", f, got)
	}
	s.tidy(f)
}

// appliedOnce looks at what there is after an apply of two resources.
func (s *stage) appliedOnce(f *faults, n int, project, answer string, comments int) {
	s.t.Helper()
	// Where the death is between the beginning of the apply and the note of its end,
	// nobody can know what was done, and that is what has to be said.
	unknown := strings.Contains(s.status(n), "failed to apply") && strings.Contains(answer, "read the new plan with care") &&
		strings.HasPrefix(f.died, "put effect/")
	if !unknown {
		s.expect(f.String()+": the status", s.status(n), "applied by")
		s.expect(f.String()+": the answer", answer, "**Applied** `"+project+"`: 2 added")
		s.expect(f.String()+": the check", s.check("b"), "success Applied – 2 added", "head lockstep: success 1 project applied – 2 added")
	}
	if got := made(s.t, s, project); strings.Count(got, " ") != 3 || !strings.HasPrefix(got, "serial 1: ") {
		s.t.Errorf("%v: the state has %s", f, got)
	}
	if unknown && strings.Contains(fmt.Sprint(s.repo.Comments(n)), "<!-- lockstep:result ") {
		comments++ // one more that points to the result
	}
	if got := len(s.repo.Comments(n)); got != comments {
		s.t.Errorf("%v: %d comments", f, got)
	}
	if got := len(s.repo.Checks(s.repo.Head("b"))); got != 2 {
		s.t.Errorf("%v: %d check runs", f, got)
	}
}

// tidy looks at what is left in the end.
func (s *stage) tidy(f *faults) {
	s.t.Helper()
	if list, err := s.records.List(s.t.Context(), "lease"); err != nil || len(list) != 0 {
		s.t.Errorf("%v: leases that are left: %v, %v", f, list, err)
	}
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

// made names what the state of a project has.
func made(t *testing.T, s *stage, project string) string {
	data, err := os.ReadFile(filepath.Join(executor.LocalState(s.data.States, s.repo.Repo().ID, project, "default"), "terraform.tfstate"))
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
