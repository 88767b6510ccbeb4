package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/estimates"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// parts is an engine whose applies take several processes: each does some of the changes.
type parts struct {
	jobs.Engine
	of, each int
	done     int
	jobs     []jobs.Job
	unlocked int
	// before happens before the first part asks for its permission.
	before func()
	// during happens in each part, with its number from 1, after its changes. An error is the
	// engine's; the part is over, and the next one knows of its changes.
	during func(ctx context.Context, part int) error
	took   estimates.Durations // by each part
}

func (p *parts) Apply(ctx context.Context, j jobs.Job, _ []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	if p.done > 0 && !j.Continues {
		return jobs.Outcome{}, errors.New("the apply begins again")
	}
	if p.before != nil && !j.Continues {
		p.before()
	}
	if permit(jobs.BeforeApply{State: p.state()}) != jobs.Permitted {
		return jobs.Outcome{Refused: true}, nil
	}
	p.jobs = append(p.jobs, j)
	far := func() comment.Progress { return comment.Progress{Done: p.done, Of: p.of} }
	j.Progress(comment.Ongoing{Progress: far()})
	if p.done = min(p.done+p.each, p.of); p.during != nil {
		if err := p.during(ctx, len(p.jobs)); err != nil {
			return jobs.Outcome{}, err
		}
	}
	o := jobs.Outcome{State: p.state(), Counts: counting.Counts{Add: p.done}, Progress: far(), Took: p.took}
	if p.done < p.of {
		o.Failed, o.Resumable, o.Remaining = true, true, p.of-p.done
	}
	return o, nil
}

func (p *parts) Unlock(context.Context, jobs.Job) (jobs.Unlocked, error) {
	p.unlocked++
	return jobs.Unlocked{Locks: 1}, nil
}

// state is the state after the changes that are done.
func (p *parts) state() runs.StateID {
	if p.done == 0 {
		return runs.StateID{}
	}
	return runs.StateID{Lineage: "l", Serial: uint64(p.done), Version: fmt.Sprint(p.done)}
}

// inParts has applies done in parts.
func inParts(t *testing.T, of, each int) (*stage, *parts, int) {
	t.Helper()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	p := &parts{Engine: s.pipeline.Engine, of: of, each: each}
	s.pipeline.Engine = p
	return s, p, s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
}

// handle hands a message to the pipeline as long as it is handed over, up to a number of times, and
// returns how often, and the last error.
func (s *stage) handleUntil(ctx context.Context, m pipeline.Message, times int) (n int, err error) {
	for n < times {
		n++
		if err = s.pipeline.Handle(ctx, m); !errors.As(err, new(*pipeline.HandOver)) {
			return n, err
		}
	}
	return n, err
}

// toApply comments "lockstep apply", and returns the message that comes of it, which nobody handles.
func (s *stage) toApply(who string, number int) (m pipeline.Message, comment int64) {
	s.t.Helper()
	comment = s.repo.Comment(who, number, "lockstep apply")
	if _, err := s.hub.Deliver(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.drain(s.t.Context(), func(ctx context.Context, x pipeline.Message) error {
		if x.Kind == pipeline.ToApply {
			m = x
			return nil
		}
		return s.pipeline.Handle(ctx, x)
	})
	if m.ID == "" {
		s.t.Fatal("nothing is to be applied")
	}
	return m, comment
}

// command handles a comment at once, whatever waits, and returns its ID.
func (s *stage) command(who string, number int, text string) int64 {
	s.t.Helper()
	id := s.repo.Comment(who, number, text)
	m := pipeline.Message{ID: fmt.Sprint("at-once-", id), Kind: pipeline.Commanded, Pull: s.ref(number), Comment: id, Actor: who, Lines: grammar.Parse(text)}
	if err := s.pipeline.Handle(s.t.Context(), m); err != nil {
		s.t.Error(err)
	}
	return id
}

// TestContinue is the story of an apply that takes several processes: one message, one answer, one
// result; people see how far it is; and others wait behind it, whatever they want.
func TestContinue(t *testing.T) {
	t.Parallel()
	s, p, n := inParts(t, 5, 2)
	two := s.pull("bob", "c", githubtest.Files{"c.tf": resource("c", "1")})
	m, id := s.toApply("alice", n)
	var told []string
	for turn := 1; turn <= 2; turn++ {
		err := s.pipeline.Handle(t.Context(), m)
		if !errors.As(err, new(*pipeline.HandOver)) {
			t.Fatalf("turn %d: %v", turn, err)
		}
		s.settle()
		told = append(told, s.answerTo(n, id), s.status(n), s.check("b"))
	}
	s.golden("continue", told...)
	// Another pull request would revert what is applied by now.
	other := s.command("bob", two, "lockstep apply")
	s.settle()
	s.expect("another apply", s.answerTo(two, other), "**Not applied** `.`", "#1 was applied to the same state and is not merged yet")
	again := s.command("bob", n, "lockstep apply")
	replan := s.command("bob", n, "lockstep plan")
	s.settle()
	s.expect("the same apply", s.answerTo(n, again), "An apply that `alice` requested is in progress.")
	s.expect("a plan", s.answerTo(n, replan), "An apply that `alice` requested is in progress.")

	if err := s.pipeline.Handle(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	s.settle()
	s.expect("the answer", s.answerTo(n, id), "**Applied** `.`: 5 added")
	s.expect("the status", s.status(n), "applied by", "applied by `alice` |")
	s.expect("the check", s.check("b"), "success Applied – 5 added")
	if err := s.pipeline.Handle(t.Context(), m); err != nil || len(p.jobs) != 3 {
		t.Errorf("%d parts, and then %v", len(p.jobs), err)
	}
	for i, j := range p.jobs {
		if j.Continues != (i > 0) || j.Run != p.jobs[0].Run || j.Run == "" || j.Checkout == "" {
			t.Errorf("part %d: run %q continues: %v", i+1, j.Run, j.Continues)
		}
	}
	s.tidy(&faults{})
}

// TestContinueInAQueue holds that the message of an apply which goes on stays the first of its group:
// it ends before others are begun.
func TestContinueInAQueue(t *testing.T) {
	t.Parallel()
	s, p, n := inParts(t, 9, 1)
	s.repo.Comment("alice", n, "lockstep apply")
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	later := pipeline.Message{ID: "later", Kind: pipeline.ToApply, Pull: s.ref(99), Target: "%2E@default"}
	s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
		if m.Kind != pipeline.ToApply {
			return s.pipeline.Handle(ctx, m)
		}
		if len(kinds) == 0 {
			if err := s.pipeline.Queue.Send(ctx, later); err != nil {
				return err
			}
		}
		kinds = append(kinds, m.ID)
		if m.ID == later.ID {
			return nil
		}
		return s.pipeline.Handle(ctx, m)
	})
	if len(kinds) != 10 || kinds[9] != later.ID || len(p.jobs) != 9 {
		t.Errorf("handled: %q, in %d parts", kinds, len(p.jobs))
	}
	s.expect("the status", s.status(n), "applied by")
}

// TestBeginTwice holds that a second process with the message of an apply does nothing while the first may be alive,
// although nothing is begun yet.
func TestBeginTwice(t *testing.T) {
	t.Parallel()
	s, p, n := inParts(t, 1, 1)
	m, id := s.toApply("alice", n)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	asked := 0
	p.before = func() {
		asked++
		for range 2 { // the second one does not make room for a third
			var busy *pipeline.BusyError
			if err := s.pipeline.Handle(ctx, m); !errors.As(err, &busy) || time.Until(busy.Until) < 30*time.Second {
				t.Errorf("another process: %v", err)
			}
		}
	}
	if turns, err := s.handleUntil(ctx, m, 9); turns != 1 || err != nil || asked != 1 {
		t.Errorf("%d turns, %d applies, %v", turns, asked, err)
	}
	s.settle()
	s.expect("the answer", s.answerTo(n, id), "**Applied** `.`: 1 added")
}

// TestGivenUpBeside holds that an apply is not given up while a process may be alive that works on it, before it has begun
// and afterwards: the lock of the state would be released, and people told an untruth.
func TestGivenUpBeside(t *testing.T) {
	t.Parallel()
	s, p, n := inParts(t, 2, 1)
	m, id := s.toApply("alice", n)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tried := 0
	beside := func() {
		tried++
		var busy *pipeline.BusyError
		if err := s.pipeline.Abandon(ctx, m, "it was received too often"); !errors.As(err, &busy) || time.Until(busy.Until) < 30*time.Second {
			t.Errorf("another process: %v", err)
		}
	}
	p.before = beside
	p.during = func(context.Context, int) error { beside(); return nil }
	if turns, err := s.handleUntil(ctx, m, 9); turns != 2 || err != nil || tried < 2 {
		t.Errorf("%d turns, %d times, %v", turns, tried, err)
	}
	s.settle()
	s.expect("the answer", s.answerTo(n, id), "**Applied** `.`: 2 added")
}

// TestContinueTwice holds that of two processes with the same message one goes on, and the other does
// nothing: while the first has time, the second waits; and where it has taken over, the first
// records nothing any more.
func TestContinueTwice(t *testing.T) {
	t.Parallel()
	t.Run("the first lives", func(t *testing.T) {
		t.Parallel()
		s, p, n := inParts(t, 2, 1)
		m, id := s.toApply("alice", n)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var busy *pipeline.BusyError
		p.during = func(context.Context, int) error {
			if err := s.pipeline.Handle(ctx, m); !errors.As(err, &busy) || time.Until(busy.Until) < 30*time.Second {
				t.Errorf("the second process: %v", err)
			}
			return nil
		}
		if turns, err := s.handleUntil(ctx, m, 9); turns != 2 || err != nil {
			t.Errorf("%d turns, %v", turns, err)
		}
		s.settle()
		s.expect("the answer", s.answerTo(n, id), "**Applied** `.`: 2 added")
	})
	t.Run("the second has taken over", func(t *testing.T) {
		t.Parallel()
		s, p, n := inParts(t, 3, 1)
		m, id := s.toApply("alice", n)
		var over pipeline.Version
		p.during = func(ctx context.Context, part int) error {
			if part == 1 { // it has no certain end: as on a machine that slept
				if turns, err := s.handleUntil(ctx, m, 9); turns != 2 || err != nil {
					t.Errorf("the second process: %d turns, %v", turns, err)
				}
				over = s.begun(s.runOf(n)).Version
			}
			return nil
		}
		err := s.pipeline.Handle(t.Context(), m)
		if !errors.Is(err, pipeline.ErrConflict) {
			t.Errorf("the first process: %v", err)
		}
		if b := s.begun(s.runOf(n)); b.Version != over {
			t.Errorf("the first process has written over the record of the second: %+v", b)
		}
		if err := s.pipeline.Handle(t.Context(), m); err != nil {
			t.Error(err)
		}
		s.settle()
		s.expect("the answer", s.answerTo(n, id), "**Applied** `.`: 3 added")
		if len(p.jobs) != 3 {
			t.Errorf("%d parts", len(p.jobs))
		}
	})
	t.Run("a higher fence under the lock", func(t *testing.T) {
		t.Parallel()
		s, p, n := inParts(t, 2, 1)
		m, _ := s.toApply("alice", n)
		if err := s.pipeline.Handle(t.Context(), m); !errors.As(err, new(*pipeline.HandOver)) {
			t.Fatal(err)
		}
		r := s.runOf(n)
		s.pipeline.Engine = late{p, func() {
			b := s.begun(r)
			if _, err := s.pipeline.Ledger().TakeOver(t.Context(), r, b, time.Time{}); err != nil {
				t.Error(err)
			}
		}}
		if err := s.pipeline.Handle(t.Context(), m); !errors.Is(err, pipeline.ErrConflict) || len(p.jobs) != 1 {
			t.Errorf("%d parts, %v", len(p.jobs), err)
		}
	})
}

// TestTakenOnce holds that of two processes which have read the same record of an apply, one takes it,
// and the other learns that it has not.
func TestTakenOnce(t *testing.T) {
	t.Parallel()
	s, _, n := inParts(t, 2, 1)
	m, _ := s.toApply("alice", n)
	if err := s.pipeline.Handle(t.Context(), m); !errors.As(err, new(*pipeline.HandOver)) {
		t.Fatal(err)
	}
	r := s.runOf(n)
	b := s.begun(r)
	won, err := s.pipeline.Ledger().TakeOver(t.Context(), r, b, time.Time{})
	if err != nil || won.Fence != b.Fence+1 {
		t.Fatalf("%+v, %v", won, err)
	}
	if lost, err := s.pipeline.Ledger().TakeOver(t.Context(), r, b, time.Time{}); !errors.Is(err, pipeline.ErrConflict) {
		t.Errorf("both have it: %+v, %v", lost, err)
	}
}

// runOf returns the only run of a pull request.
func (s *stage) runOf(n int) runs.Run {
	s.t.Helper()
	all, err := s.pipeline.Ledger().Runs(s.t.Context(), s.ref(n))
	if err != nil || len(all) != 1 {
		s.t.Fatalf("%d runs, %v", len(all), err)
	}
	return all[0].Run
}

func (s *stage) begun(r runs.Run) ledger.Begun {
	s.t.Helper()
	e, version, err := s.pipeline.Ledger().ApplyRecord(s.t.Context(), r)
	if err != nil || version == "" {
		s.t.Fatalf("no apply record: %v", err)
	}
	return ledger.Begun{ApplyRecord: e, Version: version}
}

// TestContinueAfterDeaths holds that an apply whose processes all die goes on as long as it gets on,
// and is given up where it does not.
func TestContinueAfterDeaths(t *testing.T) {
	t.Parallel()
	died := errors.New("the process was killed")
	s, p, n := inParts(t, 7, 1)
	m, id := s.toApply("alice", n)
	p.during = func(context.Context, int) error { return died }
	for range 6 {
		// Nothing is recorded by who is killed.
		if err := s.killed(m); !errors.Is(err, died) {
			t.Fatal(err)
		}
	}
	p.during = nil
	if err := s.pipeline.Handle(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	s.settle()
	s.expect("the answer", s.answerTo(n, id), "**Applied** `.`: 7 added")

	s, p, n = inParts(t, 7, 1)
	m, id = s.toApply("alice", n)
	p.during = func(_ context.Context, part int) error {
		if part > 3 {
			p.done-- // it does not get on
		}
		return died
	}
	deaths := 0
	for deaths < 20 && s.killed(m) != nil {
		deaths++
	}
	if want := 4 + pipeline.MaxReceives; deaths != want {
		t.Errorf("%d deaths, want %d", deaths, want)
	}
	s.settle()
	s.expect("the answer", s.answerTo(n, id), "**Failed to apply** `.`: the apply ended without a result, so Lockstep does not know what was changed.", "read the new plan with care")
	s.tidy(&faults{})
}

var errKilled = errors.New("killed")

// killed hands a message to a process that is killed in the engine.
func (s *stage) killed(m pipeline.Message) (err error) {
	p := *s.pipeline
	p.Engine = killed{p.Engine, func(e error) { err = e }}
	defer func() {
		if x := recover(); x != nil && x != any(errKilled) {
			panic(x)
		}
	}()
	return p.Handle(s.t.Context(), m)
}

// killed is an engine with whose errors everything ends.
type killed struct {
	jobs.Engine
	tell func(error)
}

func (k killed) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	o, err := k.Engine.Apply(ctx, j, plan, permit)
	if err != nil {
		k.tell(err)
		panic(errKilled)
	}
	return o, err
}

// TestDeathAtTheEnd holds that the result of an apply is told although its process dies as it has come to its end: while the
// journal is there, and when it is gone, and the state may be locked still.
func TestDeathAtTheEnd(t *testing.T) {
	t.Parallel()
	for name, dies := range map[string]func(now string) (before, after bool){
		"with its journal":                   func(now string) (bool, bool) { return false, strings.Contains(now, `"Ended"`) },
		"without its journal":                func(now string) (bool, bool) { return strings.Contains(now, `"Outcome"`), false },
		"with its journal, and is abandoned": func(now string) (bool, bool) { return false, strings.Contains(now, `"Ended"`) },
	} {
		for _, result := range []string{"**Applied** `.`: 2 added", "added, 0 changed, 0 destroyed before the failure"} {
			t.Run(name+"/"+strings.Fields(result)[0], func(t *testing.T) {
				t.Parallel()
				s := newStage(t, githubtest.Files{"main.tf": resource("a", "1"), "lockstep.hcl": "allow {\n  provisioners = true\n}\n"})
				b := resource("b", "1")
				if strings.Contains(result, "failure") {
					b = strings.Replace(b, "{\n", "{\n  provisioner \"local-exec\" {\n    command = \"exit 3\"\n  }\n", 1)
				}
				n := s.pull("alice", "b", githubtest.Files{"b.tf": b})
				m, id := s.toApply("alice", n)
				revive := s.gate(func(ctx context.Context, x memory.Effect, do func(context.Context) error) error {
					if !writes("effect/", "")(x) {
						return do(ctx)
					}
					before, after := dies(string(x.With.([]byte)))
					if before {
						panic(errKilled)
					}
					err := do(ctx)
					if after {
						panic(errKilled)
					}
					return err
				})
				if err := s.killed(m); err != nil {
					t.Error(err)
				}
				revive()
				if e := s.begun(s.runOf(n)); e.Outcome != nil || e.Ended == nil {
					t.Fatalf("the apply record has %+v, and before the end %+v", e.Outcome, e.Ended)
				}
				if strings.HasSuffix(name, "abandoned") {
					if err := s.pipeline.Abandon(t.Context(), m, "it died"); err != nil {
						t.Fatal(err)
					}
				} else if err := s.pipeline.Handle(t.Context(), m); err != nil {
					t.Fatal(err)
				}
				s.settle()
				s.expect("the answer", s.answerTo(n, id), result)
				if !strings.Contains(name, "abandoned") { // then the lock is the next one's
					s.tidy(&faults{})
				}
			})
		}
	}
}

// TestContinueInVain holds that an apply whose processes end as they should, and do not get on, is given
// up, and that what was done before is told.
func TestContinueInVain(t *testing.T) {
	t.Parallel()
	s, p, n := inParts(t, 5, 2)
	m, id := s.toApply("alice", n)
	p.during = func(context.Context, int) error { p.each = 0; return nil }
	if turns, err := s.handleUntil(t.Context(), m, 20); err != nil {
		t.Fatalf("after %d turns: %v", turns, err)
	}
	s.settle()
	s.expect("the answer", s.answerTo(n, id), "**Failed to apply** `.`: 2 added, 0 changed, 0 destroyed before the failure. The state contains these changes.", "Not started: 3 changes", "**The apply made no progress**: 2 of 5 changes done", "made no progress")
	s.tidy(&faults{})
}

// TestStopApply holds that a stop ends an apply between two changes, that the rest can be applied or
// planned then, and that a stop of nothing is answered once.
func TestStopApply(t *testing.T) {
	t.Parallel()
	s, p, n := inParts(t, 3, 1)
	s.pipeline.Poll = time.Millisecond
	var asked, denied int64
	p.during = func(ctx context.Context, part int) error {
		if part == 1 {
			denied = s.command("mallory", n, "lockstep stop")
			asked = s.command("bob", n, "lockstep stop")
			<-ctx.Done()
		}
		return nil
	}
	id := s.repo.Comment("alice", n, "lockstep apply")
	s.settle()
	s.expect("who may not", s.answerTo(n, denied), "**Not cancelled**:", "`mallory` has the permission `read`")
	s.golden("stop", s.answerTo(n, asked), s.answerTo(n, id), s.status(n), s.check("b"), s.say("alice", n, "lockstep stop"))
	if p.unlocked != 1 || len(p.jobs) != 1 {
		t.Errorf("unlocked %d times after %d parts", p.unlocked, len(p.jobs))
	}
	s.tidy(&faults{})
	p.done, p.during = 0, nil // what the engine finds in the journal
	p.of, p.each = 2, 2
	s.pipeline.Engine = from{p, s.runOf(n).Plan.State}
	s.expect("the rest", s.say("alice", n, "lockstep apply"), "**Applied** `.`: 2 added")
	s.expect("the status", s.status(n), "applied by")
}

// from is an engine that finds a state.
type from struct {
	jobs.Engine
	state runs.StateID
}

func (f from) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	return f.Engine.Apply(ctx, j, plan, func(jobs.BeforeApply) jobs.Permit { return permit(jobs.BeforeApply{State: f.state}) })
}

// TestStopBetweenProcesses holds that an apply is stopped that nobody works on just then, and one that
// was not begun.
func TestStopBetweenProcesses(t *testing.T) {
	t.Parallel()
	s, p, n := inParts(t, 3, 1)
	m, id := s.toApply("alice", n)
	s.command("bob", n, "lockstep stop")
	if err := s.pipeline.Handle(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	s.settle()
	s.expect("one that was not begun", s.answerTo(n, id), "**Not applied** `.`", "`bob` cancelled ")
	s.expect("its plan", s.status(n), "To apply this plan, comment `lockstep apply`")

	m, id = s.toApply("alice", n)
	if err := s.pipeline.Handle(t.Context(), m); !errors.As(err, new(*pipeline.HandOver)) {
		t.Fatal(err)
	}
	s.command("bob", n, "lockstep stop")
	if err := s.pipeline.Handle(t.Context(), m); err != nil || len(p.jobs) != 1 || p.unlocked != 1 {
		t.Fatalf("%d parts, unlocked %d times, %v", len(p.jobs), p.unlocked, err)
	}
	s.settle()
	s.expect("the answer", s.answerTo(n, id), "**Cancelled** the apply of `.`, as `bob` requested")
	s.repo.Close("alice", n)
	s.settle()
	s.expect("its close", s.answer(n, "close"), "**Applied, not merged**")
	if got := usable(artifacts(t, s)); len(got) != 0 {
		t.Errorf("kept after the close: %q", got)
	}
}

// TestStopPlan holds that a stop ends a plan in the making, and one that waits.
func TestStopPlan(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.pipeline.Poll = time.Millisecond
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	engine := s.pipeline.Engine
	var asked int64
	s.pipeline.Engine = endless{engine, func() { asked = s.command("bob", n, "lockstep stop") }}
	s.expect("the plan", s.say("alice", n, "lockstep plan"), "**Failed to plan** `.", "`bob` cancelled ")
	s.expect("the stop", s.answerTo(n, asked), "**Cancelling** the plan of `.`, as `bob` requested.")
	again := "To plan again, push a commit or comment `lockstep plan"
	s.expect("the status", s.status(n), "cancelled by `bob`", "**cancelled** by `bob`", "`bob` cancelled ", again)
	s.without("the status", s.status(n), "failed to plan", "failed")
	s.expect("its check", s.pages("b"), "completed action_required, Cancelled by bob\n", "**cancelled** by `bob`", again)
	s.expect("the page", s.onPage(n), "**cancelled** by `bob`", again)
	s.headIs("that can be required", "b", "action_required 1 project cancelled")
	s.pipeline.Engine = engine
	s.expect("a new plan", s.say("alice", n, "lockstep plan"), "**Planned** `.`: 2 to add")
	s.tidy(&faults{})
}

// endless is an engine whose plans end when they are stopped.
type endless struct {
	jobs.Engine
	meanwhile func()
}

func (e endless) Plan(ctx context.Context, _ jobs.Job) (jobs.PlanResult, error) {
	e.meanwhile()
	<-ctx.Done()
	return jobs.PlanResult{}, context.Cause(ctx)
}

// TestStopOfAnother holds that the end of one apply is not the end of the next: an order is of the one
// that was under way when it was given.
func TestStopOfAnother(t *testing.T) {
	t.Parallel()
	s, _, n := inParts(t, 1, 1)
	s.pipeline.Poll = time.Millisecond
	m, _ := s.toApply("alice", n)
	s.command("bob", n, "lockstep stop")
	if err := s.pipeline.Handle(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	s.settle()
	s.expect("the next apply", s.say("alice", n, "lockstep apply"), "**Applied** `.`: 1 added")
	if got := s.say("bob", n, "lockstep stop"); !strings.Contains(got, "No plan or apply of this pull request is in progress") {
		t.Errorf("a stop of nothing: %s", got)
	}
}

// partsStory is of an apply that takes three processes.
func partsStory(t *testing.T, f *faults) {
	s, p, n := inParts(t, 3, 1)
	f.use(s)
	id := s.repo.Comment("alice", n, "lockstep apply")
	s.stubborn()
	s.expect(f.String()+": the answer", s.answerTo(n, id), "**Applied** `.`: 3 added")
	s.expect(f.String()+": the status", s.status(n), "applied by", "applied by `alice` |")
	s.expect(f.String()+": the check", s.check("b"), "success Applied – 3 added")
	if p.done != 3 || p.unlocked != 0 {
		t.Errorf("%v: %d done, unlocked %d times", f, p.done, p.unlocked)
	}
	if got := len(s.repo.Comments(n)); got != 3 {
		t.Errorf("%v: %d comments", f, got)
	}
	s.tidy(f)
}

// stopStory is of an apply that is stopped between two processes.
func stopStory(t *testing.T, f *faults) {
	s, p, n := inParts(t, 3, 1)
	m, id := s.toApply("alice", n)
	if err := s.pipeline.Handle(t.Context(), m); !errors.As(err, new(*pipeline.HandOver)) {
		t.Fatal(err)
	}
	if err := s.pipeline.Queue.Send(t.Context(), m.Resend("test")); err != nil { // the queue's own is gone
		t.Fatal(err)
	}
	s.command("bob", n, "lockstep stop")
	f.use(s)
	s.stubborn()
	s.expect(f.String()+": the answer", s.answerTo(n, id), "**Cancelled** the apply of `.`, as `bob` requested")
	s.expect(f.String()+": the status", s.status(n), "cancelled")
	if p.done != 1 || p.unlocked == 0 {
		t.Errorf("%v: %d done, unlocked %d times", f, p.done, p.unlocked)
	}
	s.tidy(f)
}

// TestContinueExchanged carries out attacks: whoever may write plans and records forges an apply that
// was begun, which no gate is asked about, or has one go on with something else.
func TestContinueExchanged(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		forge func(robber)
		want  string
	}{
		"plan": {robber.plan, "The saved plan was replaced"},
		"both": {robber.both, "This plan is not the one you saw"},
		"files": {func(r robber) {
			run := r.run(r.victim.Pull.Number)
			b := r.begun(run)
			b.Commit = r.repo.Head("evil")
			r.write(run, b)
		}, "The plan is out of date, because the base branch has changed in these files: `b.t"},
		"gone": {func(r robber) {
			if err := r.data.Artifacts.Delete(r.t.Context(), r.victim.SavedPlan()); err != nil {
				r.t.Fatal(err)
			}
		}, "the saved plan is gone or was replaced"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, n := rob(t)
			p := &parts{Engine: r.pipeline.Engine, of: 2, each: 1}
			r.pipeline.Engine = p
			m, id := r.toApply("bob", n)
			if err := r.pipeline.Handle(t.Context(), m); !errors.As(err, new(*pipeline.HandOver)) {
				t.Fatal(err)
			}
			test.forge(r)
			r.exchanged = name == "both"
			if err := r.pipeline.Handle(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			r.settle()
			r.expect("the answer", r.answerTo(n, id), "**Failed to apply** `.`: the apply ended without a result, so Lockstep does not know what was changed.", test.want)
			if len(p.jobs) != 1 {
				t.Errorf("%d parts", len(p.jobs))
			}
		})
	}
}

// write writes an apply record.
func (r robber) write(run runs.Run, b ledger.Begun) {
	r.t.Helper()
	rec, err := r.records.Get(r.t.Context(), fmt.Sprintf("effect/%s/%d", run.Key(), run.Asked.Try))
	if err == nil {
		_, err = r.records.Put(r.t.Context(), rec.Key, pipeline.Encode(b.ApplyRecord), rec.Version)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// TestContinueIsLost holds that an apply is gone on with whose message was lost between two processes,
// or with its process; and that it is given up where no process gets on.
func TestContinueIsLost(t *testing.T) {
	t.Parallel()
	later := func(minutes int) time.Time { return time.Now().Add(time.Duration(minutes) * time.Minute) }
	s, p, n := inParts(t, 5, 2)
	m, id := s.toApply("alice", n)
	if err := s.pipeline.Handle(t.Context(), m); !errors.As(err, new(*pipeline.HandOver)) {
		t.Fatal(err)
	}
	s.settle()
	s.roundAt(later(9), reconcile.Found{})
	s.roundAt(later(20), reconcile.Found{Leases: 1})
	s.expect("the answer", s.answerTo(n, id), "**Applied** `.`: 5 added")
	if len(p.jobs) != 3 {
		t.Errorf("%d parts", len(p.jobs))
	}
	s.tidy(&faults{})

	s, p, n = inParts(t, 5, 2)
	m, id = s.toApply("alice", n)
	p.during = func(context.Context, int) error { p.done = 1; return errors.New("killed") }
	if err := s.killed(m); err == nil {
		t.Fatal("it was not killed")
	}
	alive := s.pipeline.Engine
	s.pipeline.Engine = killed{p, func(error) {}}
	for round := range 12 { // of processes that may live for hours
		s.roundOfDeaths(later(400 + 20*round))
	}
	s.pipeline.Engine = alive
	s.settle()
	s.expect("the answer", s.answerTo(n, id), "**Failed to apply** `.`: the apply ended without a result, so Lockstep does not know what was changed.")
	s.tidy(&faults{})
}

// roundOfDeaths lets the janitor go round, and has all messages handled by processes that are killed
// in the engine.
func (s *stage) roundOfDeaths(now time.Time) {
	s.t.Helper()
	j := s.janitor()
	if _, err := j.Round(s.t.Context(), now); err != nil {
		s.t.Fatal(err)
	}
	for range 3 {
		s.drain(s.t.Context(), func(ctx context.Context, m pipeline.Message) error {
			if m.Kind != pipeline.ToApply {
				return s.pipeline.Handle(ctx, m)
			}
			_ = s.killed(m)
			return nil // the message is lost
		})
	}
}
