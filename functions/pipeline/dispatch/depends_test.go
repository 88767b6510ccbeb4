package dispatch_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestDependsOnApplied holds that a plan is made again once a project that it depends on was applied in another pull request,
// whenever that was, and is never applied without.
func TestDependsOnApplied(t *testing.T) {
	t.Parallel()
	const since = "because `net` has been applied"
	// applied is an apply of which no message tells.
	applied := func(s *stage) {
		ld := ledger.Ledger{Records: s.records}
		r := runs.Run{ID: runs.ID{Pull: s.ref(99), Project: "net", Workspace: "default"}}
		if err := ld.Remember(s.t.Context(), r, runs.LastApply{Number: 99, By: "bob", Settled: true}); err != nil {
			s.t.Fatal(err)
		}
	}
	app := githubtest.Files{"app/b.tf": resource("b", "1")}
	for name, tell := range map[string]func(*stage){
		"and merged": func(s *stage) {
			n := s.pull("alice", "app", app)
			other := s.pull("bob", "net", githubtest.Files{"net/b.tf": resource("b", "1")})
			s.expect("the apply", s.say("bob", other, "lockstep apply"), "**Applied** `net`")
			s.repo.Merge("bob", other)
			s.settle()
			s.expect("the status", s.status(n), since)
			s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `app`")
			s.shut(n)
		},
		"while it is planned": func(s *stage) {
			s.pipeline.Engine = &meanwhile{s.pipeline.Engine, func() { applied(s) }}
			s.expect("the status", s.status(s.pull("alice", "app", app)), since)
		},
		"and its message lost": func(s *stage) {
			n := s.pull("alice", "app", app)
			applied(s)
			s.roundAt(s.hub.Now(), reconcile.Found{States: 1})
			s.expect("the status", s.status(n), since)
		},
		"and nobody has looked since": func(s *stage) {
			n := s.pull("alice", "app", app)
			applied(s)
			s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `app`", "`net` has been applied")
		},
		"but not since": func(s *stage) {
			applied(s)
			n := s.pull("alice", "app", app)
			if strings.Contains(s.status(n), "in between") {
				t.Error("it is planned again for nothing")
			}
			s.repo.Close("alice", n)
			s.settle()
			s.shut(n)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{
				"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"),
				"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\nproject \"app\" {\n  dir = \"app\"\n  depends_on = [\"net\"]\n}\n",
			})
			tell(s)
		})
	}
}

// shut holds that a pull request is on no list of open plans any more.
func (s *stage) shut(n int) {
	s.t.Helper()
	ld := ledger.Ledger{Records: s.records}
	list, err := ld.Readers(s.t.Context(), s.repo.Repo().ID, "net@default")
	for _, o := range list {
		if o.Pull.Number == n {
			s.t.Errorf("#%d is listed still, %v", n, err)
		}
	}
}

// meanwhile is an engine during whose first plan something else happens.
type meanwhile struct {
	jobs.Engine
	do func()
}

func (e *meanwhile) Plan(ctx context.Context, j jobs.Job) (jobs.PlanResult, error) {
	if do := e.do; do != nil {
		e.do = nil
		do()
	}
	return e.Engine.Plan(ctx, j)
}
