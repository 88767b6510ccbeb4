package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/pipeline/callouts"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// hooked is a repository with one project, and a hook on all events.
func hooked(body string) githubtest.Files {
	return githubtest.Files{
		"net/main.tf": resource("a", "1"),
		"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\nhook \"ticket\" {\n  on = [\"before_plan\", \"after_plan\", \"before_apply\", \"after_apply\"]\n" +
			"  program = \"ticket\"\n" + body + "}\n",
	}
}

// steps is a program for hooks, which keeps the requests.
type steps struct {
	mu     sync.Mutex
	events []string          // "ID event outcome"
	say    map[string]string // answers by event
}

// use has the hooks of a stage call the program.
func (p *steps) use(s *stage) {
	c := &callouts.Caller{Program: p.run}
	s.pipeline.Hook = c.Hook
}

func (p *steps) run(_ context.Context, name string, input []byte) ([]byte, error) {
	var in struct {
		Data struct {
			ID, Event, Outcome, Project, Actor string
			Changes                            *struct{ Add int }
		}
	}
	if err := json.Unmarshal(input, &in); err != nil || name != "ticket" {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	add := ""
	if in.Data.Changes != nil {
		add = fmt.Sprintf(" +%d", in.Data.Changes.Add)
	}
	p.events = append(p.events, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", in.Data.ID, in.Data.Project, in.Data.Event, in.Data.Outcome))+add)
	answer, is := p.say[in.Data.Event]
	if is && answer == "" {
		return nil, errors.New("exit status 1")
	}
	return []byte(answer), nil
}

// seen are the events, without IDs, since the last call.
func (p *steps) seen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, e := range p.events {
		_, e, _ = strings.Cut(e, " ")
		out = append(out, e)
	}
	p.events = nil
	return strings.Join(out, ", ")
}

// TestHooks is the story of a pull request with hooks on all events.
func TestHooks(t *testing.T) {
	t.Parallel()
	s := newStage(t, hooked(""))
	p := &steps{say: map[string]string{"after_plan": `{"messages":["read about it in WIKI-1"]}`, "before_apply": `{"verdict":"allow","messages":["CHG-7 is open"]}`}}
	p.use(s)
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("the status", s.status(n), "The hook `ticket` (after_plan): `read about it in WIKI-1`", "ready to apply")
	s.expect("its answer", s.say("bob", n, "lockstep apply"), "**Applied** `net`: 2 added", "The hook `ticket` (before_apply): `CHG-7 is open`")
	if got, want := p.seen(), "net before_plan, net after_plan success +2, net before_apply, net after_apply success +2"; got != want {
		t.Errorf("the hook saw %s", got)
	}
}

// TestHooksRefuse holds that what a hook refuses, or gives no answer about, does not come; and that after something nothing
// can be refused.
func TestHooksRefuse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ event, answer, plan, apply, seen string }{
		{"before_plan", `{"verdict":"deny","messages":["budget is spent"]}`, "The hook `ticket` denied this plan: `budget is spent`", "**Not applied**", "net before_plan"},
		{"before_plan", "", "did not answer", "**Not applied**", "net before_plan"},
		{"before_plan", "rubbish", "did not answer", "**Not applied**", "net before_plan"},
		{"before_apply", `{"verdict":"deny","messages":["CHG-7 is closed"]}`, "ready to apply", "The hook `ticket` denied this apply: `CHG-7 is closed`", "net before_plan, net after_plan success +2, net before_apply"},
		{"before_apply", "", "ready to apply", "did not answer", "net before_plan, net after_plan success +2, net before_apply"},
		{"before_apply", `{"verdict":"maybe"}`, "ready to apply", "did not answer", "net before_plan, net after_plan success +2, net before_apply"},
		{"after_plan", `{"verdict":"deny"}`, "The hook `ticket` (after_plan) did not answer:", "**Applied** `net`", "net before_plan, net after_plan success +2, net before_apply, net after_apply success +2"},
		{"after_apply", "", "ready to apply", "The hook `ticket` (after_apply) did not answer: `exit status 1`.", "net before_plan, net after_plan success +2, net before_apply, net after_apply success +2"},
	} {
		t.Run(c.event+" "+c.answer, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, hooked(""))
			p := &steps{say: map[string]string{c.event: c.answer}}
			p.use(s)
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
			s.expect("the status", s.status(n), c.plan)
			s.expect("the answer", s.say("bob", n, "lockstep apply"), c.apply)
			if got := p.seen(); got != c.seen {
				t.Errorf("the hook saw %s", got)
			}
			applied := strings.Contains(c.apply, "Applied") || c.event == "after_apply"
			if got := made(t, s, "net"); strings.Contains(got, "serial 1") != applied {
				t.Errorf("the state has %s", got)
			}
			// What was refused once comes, when the hook lets it.
			p.mu.Lock()
			p.say = nil
			p.mu.Unlock()
			if !applied {
				s.say("alice", n, "lockstep plan")
				s.expect("the answer then", s.say("bob", n, "lockstep apply"), "**Applied** `net`: 2 added")
			}
		})
	}
}

// TestHooksOfTheBase holds that a pull request has no say in its hooks, and that nothing comes by itself where they cannot be
// called, or read.
func TestHooksOfTheBase(t *testing.T) {
	t.Parallel()
	const deny = `{"verdict":"deny","messages":["never"]}`
	for name, changes := range map[string]githubtest.Files{
		"the block removed": {"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\n"},
		"another program":   {"lockstep.hcl": strings.ReplaceAll(hooked("")["lockstep.hcl"], `"ticket"`, `"other"`)},
		"another project":   {"lockstep.hcl": "project \"other\" {\n  dir = \"net\"\n}\n"},
		"other projects":    {"lockstep.hcl": hooked("  projects = [\"prod\"]\n")["lockstep.hcl"]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, hooked("  projects = [\"ne*\"]\n"))
			p := &steps{say: map[string]string{"before_apply": deny}}
			p.use(s)
			changes["net/b.tf"] = resource("b", "1")
			n := s.pull("alice", "b", changes)
			s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Not applied**", "denied this apply: `never`")
		})
	}
	t.Run("a hook of the pull request", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\n"})
		p := &steps{say: map[string]string{"before_apply": deny}}
		p.use(s)
		files := hooked("")
		files["net/b.tf"] = resource("b", "1")
		n := s.pull("alice", "b", files)
		s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied**")
		if got := p.seen(); got != "" {
			t.Errorf("the hook saw %s", got)
		}
	})
	t.Run("nobody can call it", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, hooked(""))
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		s.expect("the status", s.status(n), "did not answer")
	})
	t.Run("a mistake in the block", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, hooked("  timeout = \"1h\"\n"))
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "lockstep.hcl": hooked("")["lockstep.hcl"]})
		s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Not applied**")
	})
}

// hooksStory is an apply with hooks: each is called for each event, with the same ID however often.
func hooksStory(t *testing.T, f *faults) {
	s := newStage(t, hooked(""))
	p := &steps{say: map[string]string{"before_apply": `{"messages":["CHG-7 is open"]}`}}
	p.use(s)
	f.use(s)
	s.repo.Push("alice", "b", "B", githubtest.Files{"net/b.tf": resource("b", "1")})
	n := s.repo.OpenPull("alice", "B", "b")
	s.stubborn()
	id := s.repo.Comment("alice", n, "lockstep apply")
	s.stubborn()
	if answer := s.answerTo(n, id); !strings.HasPrefix(f.died, "put effect/") || strings.Contains(answer, "**Applied**") { // see appliedOnce
		s.expect(f.String(), answer, "**Applied** `net`: 2 added", "`CHG-7 is open`")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	once := slices.Clone(p.events)
	slices.Sort(once)
	if once = slices.Compact(once); len(once) != 4 || len(p.events) > 6 {
		t.Errorf("%v: the hook saw %q", f, p.events)
	}
}

// TestHooksOfARenewedPlan holds that the hook after a plan sees the plan too that is made by itself in the place of another, and that people
// read its answer with it; and that both have other IDs.
func TestHooksOfARenewedPlan(t *testing.T) {
	t.Parallel()
	s := newStage(t, hooked(""))
	p := &steps{say: map[string]string{"after_plan": `{"messages":["it costs 7 a month"]}`}}
	p.use(s)
	one := s.pull("alice", "one", githubtest.Files{"net/b.tf": resource("b", "1")})
	two := s.pull("bob", "two", githubtest.Files{"net/c.tf": resource("c", "1")})
	s.say("alice", one, "lockstep apply")
	p.seen()
	s.repo.Merge("alice", one)
	s.settle()
	s.expect("the status", s.status(two), "**has a new plan**", "The hook `ticket` (after_plan): `it costs 7 a month`")
	if got, want := p.seen(), "net after_plan success +1"; got != want {
		t.Errorf("the hook saw %q", got)
	}
	s.repo.Push("carol", "main", "Beside it", githubtest.Files{"net/d.tf": resource("d", "1")})
	answer := s.say("bob", two, "lockstep apply "+s.hash(two))
	s.expect("an apply that plans again", answer, "**Not applied** `net`", "Lockstep planned again, because the configuration on the base branch has changed:")
	if got, want := p.seen(), "net after_plan success +2"; got != want {
		t.Errorf("the hook saw %q", got)
	}
}

// TestHooksOfAStoppedApply holds that the hook after an apply is called for one that somebody has stopped, and that its answers
// are told.
func TestHooksOfAStoppedApply(t *testing.T) {
	t.Parallel()
	s := newStage(t, hooked(""))
	p := &steps{say: map[string]string{"before_apply": `{"messages":["CHG-7 is open"]}`, "after_apply": `{"messages":["CHG-7 is closed"]}`}}
	p.use(s)
	e := &parts{Engine: s.pipeline.Engine, of: 5, each: 2}
	s.pipeline.Engine = e
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	p.seen()
	m, id := s.toApply("alice", n)
	e.during = func(context.Context, int) error { s.command("bob", n, "lockstep stop"); return nil }
	s.handleUntil(t.Context(), m, 9)
	s.settle()
	s.expect("the answer", s.answerTo(n, id), "**Cancelled** the apply of `net`, as `bob` requested", "(before_apply): `CHG-7 is open`", "(after_apply): `CHG-7 is closed`")
	if got, want := p.seen(), "net before_apply, net after_apply failure +2"; got != want && got != "net before_apply, net after_apply failure +4" {
		t.Errorf("the hook saw %q, want %q", got, want)
	}
}

// TestRemedyOfAHook holds that a refusal by a hook names a command that asks it again.
func TestRemedyOfAHook(t *testing.T) {
	t.Parallel()
	const deny = `{"verdict":"deny","messages":["CHG-7 is closed"]}`
	allow := func(p *steps) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.say = nil
	}
	t.Run("by a merge", func(t *testing.T) {
		t.Parallel()
		files := hooked("")
		files["lockstep.hcl"] = strings.Replace(files["lockstep.hcl"], "dir = \"net\"\n", "dir = \"net\"\n  apply = \"merge\"\n", 1)
		s := newStage(t, files)
		p := &steps{say: map[string]string{"before_apply": deny}}
		p.use(s)
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		s.repo.Merge("alice", n)
		s.settle()
		s.expect("the answer", s.answer(n, "merge"), "denied this apply: `CHG-7 is closed`", "To ask the hook again, comment `lockstep retry -p net` for a new plan of what was merged.")
		allow(p)
		s.say("alice", n, "lockstep retry -p net")
		s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
	})
	t.Run("of another plan than before", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, hooked(""))
		p := &steps{}
		p.use(s)
		one := s.pull("alice", "one", githubtest.Files{"net/b.tf": resource("b", "1")})
		two := s.pull("bob", "two", githubtest.Files{"net/c.tf": resource("c", "1")})
		s.say("alice", one, "lockstep apply")
		s.repo.Merge("alice", one)
		s.settle()
		p.mu.Lock()
		p.say = map[string]string{"before_apply": deny}
		p.mu.Unlock()
		again := "lockstep apply " + markdown.PlanShort(s.run(two).Plan.Hash)
		s.expect("the answer", s.say("bob", two, again), "denied this apply: `CHG-7 is closed`", "To ask the hook again, comment `"+again)
		allow(p)
		s.expect("its apply", s.say("bob", two, again), "**Applied** `net`")
	})
}
