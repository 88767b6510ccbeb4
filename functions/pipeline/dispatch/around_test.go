package dispatch_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runstatus"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// without refuses texts with some parts.
func (s *stage) without(what, text string, parts ...string) {
	s.t.Helper()
	for _, p := range parts {
		if strings.Contains(text, p) {
			s.t.Errorf("%s has %q:\n%s", what, p, text)
		}
	}
}

// TestCheckOfALock holds that the check of a project tells of the lock that there is, and not of an earlier one.
func TestCheckOfALock(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	one := s.pull("alice", "one", githubtest.Files{"one.tf": resource("one", "1")})
	two := s.pull("bob", "two", githubtest.Files{"two.tf": resource("two", "1")})
	s.pull("carol", "three", githubtest.Files{"three.tf": resource("three", "1")})
	told := func() string { return s.checkOf("three", "lockstep/.").Summary }
	s.say("alice", one, "lockstep lock --reason \"first\"")
	s.expect("the check", told(), "Locked by #1: `alice` has locked the state", "`first`")
	s.say("bob", one, "lockstep lock --reason \"second\"")
	s.expect("the check, once another has locked it", told(), "Locked by #1: `bob` has locked the state", "`second`")
	s.repo.Comment("bob", one, "lockstep unlock")
	s.repo.Comment("bob", two, "lockstep lock --reason \"third\"")
	s.settle()
	s.expect("the check, once it is locked for another one", told(), "has locked the state", "`third`")
	s.say("bob", two, "lockstep unlock")
	s.without("the check, once it is unlocked", told(), "locked")
}

// TestHolderOfALock holds that the pull request which a state is locked for tells that, in its status, its checks and its page.
func TestHolderOfALock(t *testing.T) {
	t.Parallel()
	s := newStage(t, twoProjects)
	n := s.pull("alice", "mine", githubtest.Files{"app/a.tf": resource("a1", "1"), "db/a.tf": resource("a1", "1")})
	s.say("alice", n, "lockstep lock --reason \"it moves\"")
	const both, app = "`alice` has locked the state of `app`, `db` for this pull request, since ", "`alice` has locked the state of `app` for this pull request, since "
	s.expect("the status", s.status(n), both, "`it moves`", "`lockstep unlock` here")
	s.expect("the checks", s.pages("mine"), both, app)
	page, err := runstatus.Project(t.Context(), s.records, s.of(n, "app"), s.of(n, "app").Spec.Head)
	s.expect("the page", comment.Check{ProjectStatus: page}.Summary(1<<16), app)
	if err != nil {
		t.Error(err)
	}
	s.say("alice", n, "lockstep unlock -p db")
	s.expect("the status of a part", s.status(n), app, "`lockstep unlock -p app` here")
	s.say("alice", n, "lockstep apply")
	s.expect("the status, once it is applied", s.status(n), app)
	s.say("alice", n, "lockstep unlock")
	s.without("the status, once it is unlocked", s.status(n), "has locked")
}

// TestToldOfAnApply holds that the plans which an apply blocks are shown so at once.
func TestToldOfAnApply(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	one := s.pull("alice", "one", githubtest.Files{"one.tf": resource("one", "1")})
	two := s.pull("bob", "two", githubtest.Files{"two.tf": resource("two", "1")})
	s.expect("the apply", s.say("alice", one, "lockstep apply"), "**Applied**")
	s.expect("the status", s.status(two), "blocked", "#1 was applied to `.` and is not merged yet", "Lockstep plans a blocked project again once the other pull request is merged or closed")
	s.expect("the checks", s.check("two"), "head lockstep: action_required 1 project blocked", "lockstep/.: action_required Blocked")
	s.repo.Close("alice", one)
	s.settle()
	s.without("the status, once it is closed", s.status(two), "blocked")
	s.without("the checks", s.check("two"), "failure")
}

// holding handles all messages that there are, but for applies, which it adds to held.
func (s *stage) holding(held *[]pipeline.Message) {
	s.t.Helper()
	for n := 1; n > 0; {
		if _, err := s.hub.Deliver(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
		n = s.drain(s.t.Context(), func(ctx context.Context, m pipeline.Message) error {
			if m.Kind == pipeline.ToApply {
				*held = append(*held, m)
				return nil
			}
			return s.pipeline.Handle(ctx, m)
		})
	}
}

// said are all comments of a pull request.
func (s *stage) said(n int) (all string) {
	for _, c := range s.repo.Comments(n) {
		all += c.Body
	}
	return all
}

// inLine are three pull requests with applies in the queue of one state.
func inLine(t *testing.T) (s *stage, held []pipeline.Message) {
	t.Helper()
	s = newStage(t, githubtest.Files{"net/main.tf": resource("a", "1")})
	for _, name := range []string{"one", "two", "three"} {
		s.pull("alice", name, githubtest.Files{"net/" + name + ".tf": resource(name, "1")})
	}
	for n, who := range []string{"alice", "bob", "alice"} {
		s.repo.Comment(who, n+1, "lockstep apply")
		s.holding(&held)
	}
	return s, held
}

// TestPlaceInTheQueue holds that the checks of an apply which is queued tell whom it waits for, as it is now.
func TestPlaceInTheQueue(t *testing.T) {
	t.Parallel()
	s, held := inLine(t)
	s.expect("the checks of the second", s.check("two"), "lockstep/net: queued Queued (2nd, behind #1) – ", "head lockstep: in_progress 1 project queued behind #1")
	s.expect("the page of the third", s.checkOf("three", "lockstep/net").Summary, "queued (3rd, behind #1 and #2)")
	s.expect("the answer to the third", s.said(3), "is queued, behind #1 (`alice`) and #2 (`bob`) at the time of the request. The result will appear here.")
	s.expect("the checks of the first", s.check("one"), "head lockstep: in_progress 1 project applying", "lockstep/net: queued Queued")
	if err := s.pipeline.Handle(t.Context(), held[0]); err != nil {
		t.Fatal(err)
	}
	s.holding(&held)
	s.expect("the checks of the third, once the first is applied", s.check("three"), "lockstep/net: queued Queued (2nd, behind #2) – ", "head lockstep: in_progress 1 project queued behind #2")
	s.expect("the checks of the second", s.check("two"), "head lockstep: in_progress 1 project applying", "lockstep/net: queued Queued")
}

// TestLeavesTheQueue holds that an apply which is stopped, or closed, before it has begun leaves the queue at once.
func TestLeavesTheQueue(t *testing.T) {
	t.Parallel()
	for what, do := range map[string]func(s *stage) (answer string){
		"stop": func(s *stage) string {
			s.repo.Comment("alice", 2, "lockstep stop")
			return "`alice` cancelled this command"
		},
		"close": func(s *stage) string { s.repo.Close("bob", 2); return "The pull request is closed." },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s, held := inLine(t)
			answer := do(s)
			s.holding(&held)
			s.expect("the one behind", s.status(3), "queued (2nd, behind #1)")
			s.expect("its checks", s.check("three"), "lockstep/net: queued Queued (2nd, behind #1) – ")
			s.without("its checks", s.check("three"), "#2")
			all := s.said(2)
			s.expect("the comments of the one that has left", all, "**Not applied** `net`", answer)
			s.without("its comments", all, "starts no others", "being applied", "`: applying")
			if what == "stop" {
				s.expect("the answer to the stop", all, "It was queued, and nothing was changed")
				s.expect("its checks", s.check("two"), "lockstep/net: success Ready to apply – 2 to add")
			} else {
				s.expect("its checks", s.check("two"), "lockstep/net: cancelled")
			}
			for _, m := range held {
				if err := s.pipeline.Handle(t.Context(), m); err != nil {
					t.Error(err)
				}
			}
			s.settle()
			s.expect("the first", s.status(1), "applied by")
			if r := s.run(2); r.Phase == runs.Applied {
				t.Errorf("it was applied: %+v", r)
			}
		})
	}
}

// TestStoppedPlanWords holds that a plan which a person has stopped is not called one that failed.
func TestStoppedPlanWords(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.pipeline.Poll = time.Millisecond
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	engine := s.pipeline.Engine
	s.pipeline.Engine = endless{engine, func() { s.command("bob", n, "lockstep stop") }}
	answer := s.say("alice", n, "lockstep plan")
	s.expect("the answer", answer, "**Failed to plan** `.", "`bob` cancelled ")
	if strings.Count(answer, "Failed to plan") != 1 {
		t.Errorf("it is said twice:\n%s", answer)
	}
	s.pipeline.Engine = engine
	refused := s.say("alice", n, "lockstep apply")
	s.expect("an apply", refused, "`bob` cancelled the plan of", "Comment `lockstep plan`")
	s.without("an apply", refused, "failed", "correction")
	s.say("alice", n, "lockstep plan")
	s.expect("the apply of the next plan", s.say("alice", n, "lockstep apply"), "**Applied** `.`")
}
