package dispatch_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// A move gives the repository another name, and may give its former one to a new repository, which it returns.
type move func(*stage) (taken *githubtest.Repository)

var moves = map[string]move{
	"renamed": func(s *stage) *githubtest.Repository {
		s.repo.Rename("alice", "platform")
		return nil
	},
	"renamed, and the name taken": func(s *stage) *githubtest.Repository {
		s.repo.Rename("alice", "platform")
		return s.taken()
	},
	"transferred": func(s *stage) *githubtest.Repository {
		s.repo.Transfer("alice", "beta")
		return nil
	},
	"transferred, and the name taken": func(s *stage) *githubtest.Repository {
		s.repo.Transfer("alice", "beta")
		return s.taken()
	},
}

// taken has mallory make a repository with the name that was left, in which everything has the same numbers.
func (s *stage) taken() *githubtest.Repository {
	s.hub.LoseDeliveries(3)
	defer s.hub.LoseDeliveries(0)
	r := s.hub.AddRepository("acme", "infra", withBackends(githubtest.Files{"net/main.tf": resource("loot", "1"), "lockstep.hcl": "allow {\n  provisioners = true\n}\n"}))
	r.Grant("mallory", "admin")
	r.Push("mallory", "b", "Change", githubtest.Files{"net/b.tf": resource("loot", "2")})
	r.OpenPull("mallory", "Change", "b")
	if _, err := s.hub.Deliver(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	return r
}

// movable is a stage whose repository can be moved to another account that is served, and where the App is installed.
func movable(t *testing.T, files githubtest.Files) *stage {
	t.Helper()
	s := newStage(t, files)
	s.hub.AddRepository("beta", "other", githubtest.Files{"README.md": "hello\n"})
	s.pipeline.Serves = serving(t, "acme, beta")
	s.webhook.Intake = s.pipeline.Intake()
	s.strict = true
	s.goRound()
	return s
}

// janitor is the stage's.
func (s *stage) janitor() *reconcile.Janitor {
	return &reconcile.Janitor{Pipeline: s.pipeline, App: s.app, Connect: func(installation int64, r github.Repo) (reconcile.Repository, error) {
		return s.app.Repository(installation, r)
	}}
}

// goRound lets the janitor go round once, and everything happen that follows.
func (s *stage) goRound() {
	s.t.Helper()
	j := s.janitor()
	if _, err := j.Round(s.t.Context(), s.hub.Now()); err != nil {
		s.t.Fatal(err)
	}
	s.settle()
}

// delivered lets the webhooks become messages, which nobody handles yet.
func (s *stage) delivered() {
	s.t.Helper()
	if _, err := s.hub.Deliver(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// held handles what waits, but for the one message of a kind, which it returns.
func (s *stage) held(kind pipeline.Kind) (held pipeline.Message) {
	s.t.Helper()
	s.delivered()
	s.drain(s.t.Context(), func(ctx context.Context, m pipeline.Message) error {
		if m.Kind == kind {
			held = m
			return nil
		}
		return s.pipeline.Handle(ctx, m)
	})
	if held.ID == "" {
		s.t.Fatalf("there is no message %q", kind)
	}
	return held
}

// TestRenamed moves a repository, by a new name or to another owner, at each point of the road, once with its former name free,
// and once with a new repository of that name in which everything has the same numbers: what was begun comes to its end, it
// comes to it once, and nothing of it gets into the new repository.
func TestRenamed(t *testing.T) {
	t.Parallel()
	change := githubtest.Files{"net/b.tf": resource("b", "1")}
	at := map[string]func(s *stage, move func()) (n int){
		"a plan waits": func(s *stage, move func()) int {
			n := s.pull("alice", "b", change)
			move()
			s.expect("the answer", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
			return n
		},
		"a push waits": func(s *stage, move func()) int {
			s.repo.Push("alice", "b", "B", change)
			n := s.repo.OpenPull("alice", "B", "b")
			s.delivered()
			move()
			s.settle()
			s.goRound()
			s.expect("the answer", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
			return n
		},
		"a plan is queued": func(s *stage, move func()) int {
			s.repo.Push("alice", "b", "B", change)
			n := s.repo.OpenPull("alice", "B", "b")
			m := s.held(pipeline.ToPlan)
			move()
			if err := s.pipeline.Handle(s.t.Context(), m); err != nil {
				s.t.Fatal(err)
			}
			s.settle()
			s.expect("the status", s.status(n), "2 to add")
			s.expect("the answer", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
			return n
		},
		"a comment waits": func(s *stage, move func()) int {
			n := s.pull("alice", "b", change)
			id := s.repo.Comment("alice", n, "lockstep apply")
			s.delivered()
			move()
			s.settle()
			s.goRound()
			s.expect("the answer", s.answerTo(n, id), "**Applied** `net`: 2 added")
			return n
		},
		"an apply is queued": func(s *stage, move func()) int {
			n := s.pull("alice", "b", change)
			m, id := s.toApply("alice", n)
			move()
			if err := s.pipeline.Handle(s.t.Context(), m); err != nil {
				s.t.Fatal(err)
			}
			s.settle()
			s.expect("the answer", s.answerTo(n, id), "**Applied** `net`: 2 added")
			return n
		},
		"it is applied": func(s *stage, move func()) int {
			n := s.pull("alice", "b", change)
			engine := s.pipeline.Engine
			s.pipeline.Engine = whileApplying{engine, move}
			id := s.repo.Comment("alice", n, "lockstep apply")
			s.settle()
			s.pipeline.Engine = engine
			s.expect("the answer", s.answerTo(n, id), "**Applied** `net`: 2 added")
			return n
		},
		"a merge waits": func(s *stage, move func()) int {
			s.repo.Push("alice", "main", "On merge", githubtest.Files{"lockstep.hcl": netProject[:len(netProject)-2] + "  apply = \"merge\"\n}\n"})
			n := s.pull("alice", "b", change)
			s.repo.Merge("alice", n)
			s.delivered()
			move()
			s.settle()
			s.goRound()
			return n
		},
	}
	for when, story := range at {
		for how, move := range moves {
			t.Run(when+"/"+how, func(t *testing.T) {
				t.Parallel()
				s := movable(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject})
				var taken *githubtest.Repository
				before := 0
				n := story(s, func() {
					if taken = move(s); taken != nil {
						before = len(s.done(taken)) // those of the former one
					}
				})
				s.expect("the status", s.status(n), "applied by", "2 added")
				s.expect("the check", s.check("b"), "success Applied – 2 added")
				if got := made(t, s, "net"); got != "serial 1: a b" {
					t.Errorf("the state has %s", got)
				}
				if r := s.run(n); r.Phase != runs.Applied {
					t.Errorf("the run is %s", r.Phase)
				}
				s.tidy(&faults{})
				if taken == nil {
					return
				}
				for _, line := range s.done(taken)[before:] {
					if !strings.HasSuffix(line, "neutral, Not enabled for this repository") { // which it is told of itself
						t.Errorf("in the new repository: %s", line)
					}
				}
			})
		}
	}
}

// TestRenamedInParts moves a repository between two processes of one apply.
func TestRenamedInParts(t *testing.T) {
	t.Parallel()
	for how, move := range moves {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := movable(t, githubtest.Files{"main.tf": resource("a", "1")})
			p := &parts{Engine: s.pipeline.Engine, of: 3, each: 2}
			s.pipeline.Engine = p
			n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
			m, id := s.toApply("alice", n)
			if err := s.pipeline.Handle(t.Context(), m); !errors.As(err, new(*pipeline.HandOver)) {
				t.Fatal(err)
			}
			move(s)
			if err := s.pipeline.Handle(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			s.settle()
			s.expect("the answer", s.answerTo(n, id), "**Applied** `.`: 3 added")
			for i, j := range p.jobs {
				if want := []string{"acme/infra", s.repo.String()}[i]; j.Repo.String() != want {
					t.Errorf("process %d works for %s, want %s", i+1, j.Repo, want)
				}
			}
			if j := p.jobs[1]; j.Installation != s.repo.Installation() {
				t.Errorf("it has the installation %d, want %d", j.Installation, s.repo.Installation())
			}
			s.tidy(&faults{})
		})
	}
}

// TestRenamedToNobody holds that a repository is served by its present name alone: messages with the former one, which is
// served, lead to nothing.
func TestRenamedToNobody(t *testing.T) {
	t.Parallel()
	for how, move := range moves {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := movable(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject})
			s.pipeline.Serves = serving(t, "acme/infra")
			s.webhook.Intake = s.pipeline.Intake()
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
			m, _ := s.toApply("alice", n)
			s.repo.Comment("alice", n, "lockstep plan")
			s.delivered()
			before := len(s.hub.Lines())
			if taken := move(s); taken != nil {
				before = len(s.hub.Lines())
			}
			var log strings.Builder
			s.pipeline.Log = func(err error) { log.WriteString(err.Error() + "\n") }
			if err := s.pipeline.Handle(t.Context(), m); err != nil {
				t.Error(err)
			}
			s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error { return s.pipeline.Handle(ctx, m) })
			for _, line := range s.hub.Lines()[before:] {
				if !strings.HasPrefix(line, "rename ") {
					t.Errorf("it led to %s", line)
				}
			}
			if got := made(t, s, "net"); strings.HasPrefix(got, "serial") {
				t.Errorf("the state has %s", got)
			}
			if strings.HasPrefix(how, "renamed") { // nobody asks the other installation
				s.expect("the log", log.String(), s.repo.String()+" is not served")
			}
		})
	}
}

// TestRenamedTwice holds that a webhook which names the repository by a name that it had for moments is heard, though the name
// is known as another repository's by then, which is served, too; and that nothing of the other one's is taken for it.
func TestRenamedTwice(t *testing.T) {
	t.Parallel()
	s := movable(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.repo.Rename("alice", "for-moments")
	s.repo.Close("alice", n)
	s.delivered()
	s.repo.Rename("alice", "platform")
	other := s.hub.AddRepository("acme", "for-moments", withBackends(githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject}))
	other.Push("alice", "b", "B", githubtest.Files{"net/b.tf": resource("b", "1")})
	o := other.OpenPull("alice", "B", "b")
	is := other.Repo()
	if served, err := s.pipeline.Intake().Served(t.Context(), is); err != nil || !served.Allowed() {
		t.Fatalf("the other repository is not served: %v, %v", served, err)
	}
	s.settle()
	if r := s.run(n); r.Phase != runs.Dropped {
		t.Errorf("the plan of the closed pull request is %s", r.Phase)
	}
	s.goRound()
	all, err := s.pipeline.Ledger().Runs(t.Context(), pipeline.Pull{Repo: is, Number: o})
	if err != nil || len(all) != 1 || all[0].Phase != runs.Planned {
		t.Errorf("the runs of the other repository are %+v, %v", all, err)
	}
	s.tidy(&faults{})
}

// TestRenamedWithALock holds that an unlock finds the lock that a run of the pull request has left under a former name.
func TestRenamedWithALock(t *testing.T) {
	t.Parallel()
	s := movable(t, githubtest.Files{"main.tf": resource("a", "1")})
	w := s.lockable()
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	engine := s.pipeline.Engine
	left := ""
	s.pipeline.Engine = whileApplying{engine, func() {
		held, err := w.Locks(t.Context())
		if err != nil || len(held) != 1 {
			t.Fatalf("%v, %v", held, err)
		}
		left = held[0].Info.Info
	}}
	s.say("alice", n, "lockstep apply")
	s.pipeline.Engine = engine
	s.repo.Rename("alice", "platform")
	s.say("alice", n, "lockstep plan")
	s.lock(w, "sbx_user1051@169.254.0.1", left)
	s.expect("an apply", s.say("alice", n, "lockstep plan"), "**Planned**")
	s.expect("the unlock", s.say("alice", n, "lockstep unlock"), "**Unlocked** `.`")
	if got := s.locks(w); got != 0 {
		t.Errorf("%d locks", got)
	}
	other := s.hub.AddRepository("acme", "infra", withBackends(githubtest.Files{"main.tf": resource("a", "1")}))
	if other.Repo().ID == s.repo.Repo().ID {
		t.Fatal("it is the same repository")
	}
}

// TestTransferredWhileAsked holds that a pull request which GitHub does not show since its repository was transferred is not taken
// for one that is merged: it was applied to the state of another one, and is not merged.
func TestTransferredWhileAsked(t *testing.T) {
	t.Parallel()
	s := movable(t, githubtest.Files{"main.tf": resource("a", "1")})
	one := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	two := s.pull("bob", "c", githubtest.Files{"c.tf": resource("c", "1")})
	s.expect("the first", s.say("alice", one, "lockstep apply"), "**Applied** `.`: 2 added")
	id := s.repo.Comment("bob", two, "lockstep apply")
	s.delivered()
	s.before(first(func(x memory.Effect) bool { return x.Call == "read pull" && x.With == one }), func() { s.repo.Transfer("alice", "beta") })
	s.settle()
	s.goRound()
	s.expect("the answer", s.answerTo(two, id)+s.say("bob", two, "lockstep apply"), "**Not applied** `.`", "#1 was applied to the same state and is not merged yet")
	if got := made(t, s, "."); got != "serial 1: a b" {
		t.Errorf("the state has %s", got)
	}
}

// TestTransferredBeforeALook holds that an event about a pull request whose repository is transferred before anybody has looked at it,
// and after its head's check was written, is handled where the repository is by then.
func TestTransferredBeforeALook(t *testing.T) {
	t.Parallel()
	s := movable(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.strict = false
	s.after(first(checks(func(github.Check) bool { return true })), func() { s.repo.Transfer("alice", "beta") })
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.expect("the status", s.status(n), "2 to add")
}

// TestTransferredOnceFound holds the same of a pull request that the janitor has found: its message is handled where the repository is by then.
func TestTransferredOnceFound(t *testing.T) {
	t.Parallel()
	s := movable(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.hub.LoseDeliveries(1)
	s.repo.Push("alice", "b", "B", githubtest.Files{"b.tf": resource("b", "1")})
	n := s.repo.OpenPull("alice", "B", "b")
	s.delivered()
	if _, err := s.janitor().Round(t.Context(), s.hub.Now()); err != nil {
		t.Fatal(err)
	}
	s.repo.Transfer("alice", "beta")
	s.settle()
	s.expect("the status", s.status(n), "2 to add")
}

// TestRenamedWithHooks moves a repository while it is applied: the hooks after that are called once, and people who are told
// elsewhere hear the name that it has by then. A hook hears the one that it had at the last look.
func TestRenamedWithHooks(t *testing.T) {
	t.Parallel()
	for how, move := range moves {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			files := hooked("")
			files["lockstep.hcl"] += "notify \"all\" {\n  on = [\"applied\"]\n  program = \"all\"\n}\n"
			s := movable(t, files)
			var mu sync.Mutex
			var heard []string
			s.pipeline.Hook = func(_ context.Context, x jobs.HookCall) (reasons.Hooked, error) {
				mu.Lock()
				defer mu.Unlock()
				heard = append(heard, string(x.Event)+" "+x.Run.Pull.Repository())
				return reasons.Hooked{Hook: x.Hook.Name, Event: string(x.Event)}, nil
			}
			s.pipeline.Notify = func(_ context.Context, n jobs.Notice) error {
				mu.Lock()
				defer mu.Unlock()
				for _, x := range n.Happened {
					heard = append(heard, "told "+x.Run.Pull.Repository())
				}
				return nil
			}
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
			engine := s.pipeline.Engine
			s.pipeline.Engine = whileApplying{engine, func() { move(s) }}
			s.say("alice", n, "lockstep apply")
			s.pipeline.Engine = engine
			s.settle()
			now := s.repo.String()
			want := "before_plan acme/infra, after_plan acme/infra, before_apply acme/infra, after_apply acme/infra, told " + now
			if got := strings.Join(heard, ", "); got != want {
				t.Errorf("heard are\n%s, want\n%s", got, want)
			}
		})
	}
}
