package dispatch_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// triggered is an engine that finds no drift. Plans of the default branch have the changes of behind.
type triggered struct {
	jobs.Engine
	behind  map[string]int // by project
	planned map[string]int
}

func (e *triggered) Plan(ctx context.Context, j jobs.Job) (jobs.PlanResult, error) {
	switch {
	case j.Number != 0:
		return e.Engine.Plan(ctx, j)
	case j.Options.RefreshOnly:
		return jobs.PlanResult{Plan: []byte("a plan")}, nil
	}
	e.planned[j.Project]++
	n := e.behind[j.Project]
	return jobs.PlanResult{Plan: []byte("a plan"), Applyable: n > 0, Counts: counting.Counts{Change: n}, Report: fmt.Sprintf("swordfish, %d of %s", n, j.Project)}, nil
}

// dependents are settings in which app and svc-a depend on net, and nothing depends on them.
const dependents = `project "net" {
  dir = "net"
}

project "app" {
  dir        = "app"
  depends_on = ["net"]
}

project "svc-a" {
  dir        = "svc-a"
  depends_on = ["n*"]
}

project "dns" {
  dir = "dns"
}

drift {
  run_triggers = true
}
`

func (s *stage) openTitles() (titles []string) {
	for _, x := range s.repo.Issues() {
		if x.Open {
			titles = append(titles, x.Title)
		}
	}
	slices.Sort(titles)
	return titles
}

// TestRunTrigger is the story of an apply that makes other projects out of date. Those with changes get an issue, which is
// closed when a later plan has none.
func TestRunTrigger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		files := githubtest.Files{"lockstep.hcl": dependents}
		for _, p := range []string{"net", "app", "svc-a", "dns"} {
			files[p+"/main.tf"] = resource("a", "1")
		}
		s := newStage(t, files)
		engine := &triggered{Engine: s.pipeline.Engine, behind: map[string]int{"app": 2, "dns": 1}, planned: map[string]int{}}
		s.pipeline.Engine, s.pipeline.Secrets = engine, []github.Secret{github.NewSecret("swordfish")}
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
		if engine.planned["app"] != 1 || engine.planned["svc-a"] != 1 || len(engine.planned) != 2 {
			t.Errorf("plans after the apply: %v", engine.planned)
		}
		if got := s.openTitles(); len(got) != 1 || got[0] != "app has changes to apply since the apply of net" {
			t.Fatalf("issues: %q", got)
		}
		s.expect("the issue", s.repo.Issues()[0].Body, "`app` depends on `net`, which #"+fmt.Sprint(n)+" applied on", "a plan of `app` has changes: 0 to add, 2 to change", "2 of app", "comment `lockstep plan` here")
		if strings.Contains(s.repo.Issues()[0].Body, "swordfish") {
			t.Errorf("a secret is in the issue: %s", s.repo.Issues()[0].Body)
		}
		s.driftFor(36 * time.Hour)
		if got := s.openTitles(); len(got) != 1 || engine.planned["app"] < 2 || engine.planned["svc-a"] != 1 {
			t.Errorf("after two turns: %q, %v", got, engine.planned)
		}
		engine.behind["app"] = 0
		s.driftFor(36 * time.Hour)
		if got := s.openTitles(); len(got) != 0 {
			t.Errorf("after the last turn: %q", got)
		}
		s.expect("the closed issue", s.repo.Issues()[0].Body, "`app` is up to date")
	})
}

// TestRunTriggerOwnPlan holds that there is no issue about a project that the pull request of the apply plans itself, and none
// while a pull request is applied and not merged.
func TestRunTriggerOwnPlan(t *testing.T) {
	t.Parallel()
	files := githubtest.Files{"lockstep.hcl": dependents}
	for _, p := range []string{"net", "app", "svc-a", "dns"} {
		files[p+"/main.tf"] = resource("a", "1")
	}
	s := newStage(t, files)
	engine := &triggered{Engine: s.pipeline.Engine, behind: map[string]int{"app": 2, "svc-a": 1}, planned: map[string]int{}}
	s.pipeline.Engine = engine
	other := s.pull("bob", "a", githubtest.Files{"svc-a/b.tf": resource("b", "1")})
	s.say("bob", other, "lockstep apply")
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
	s.expect("the apply", s.say("alice", n, "lockstep apply -p net"), "**Applied** `net`")
	if len(engine.planned) != 0 || len(s.openTitles()) != 0 {
		t.Errorf("plans %v, issues %q", engine.planned, s.openTitles())
	}
	s.repo.Merge("bob", other)
	s.settle()
	s.say("alice", n, "lockstep apply -p app")
	s.repo.Merge("alice", n)
	s.settle()
	m := s.pull("alice", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
	s.say("alice", m, "lockstep apply")
	if got := strings.Join(s.openTitles(), ", "); got != "app has changes to apply since the apply of net, svc-a has changes to apply since the apply of net" {
		t.Errorf("issues %q", got)
	}
}

// TestRunTriggersAreSpread holds that 300 dependents are planned after one apply, each once, and that two applies leave one
// issue for each.
func TestRunTriggersAreSpread(t *testing.T) {
	t.Parallel()
	files, settings := githubtest.Files{"net/main.tf": resource("a", "1")}, "project \"net\" {\n  dir = \"net\"\n}\n\ndrift {\n  run_triggers = true\n}\n"
	engine := &triggered{behind: map[string]int{}, planned: map[string]int{}}
	const many = 60 // more than a share of the queue; with 300, the test takes 20 s
	for i := range many {
		name := fmt.Sprintf("app-%d", i)
		files[name+"/main.tf"] = resource("a", "1")
		settings += fmt.Sprintf("\nproject %q {\n  dir        = %q\n  depends_on = [\"net\"]\n}\n", name, name)
		engine.behind[name] = 1
	}
	files["lockstep.hcl"] = settings
	s := newStage(t, files)
	s.pipeline.Share = 4
	engine.Engine, s.pipeline.Engine = s.pipeline.Engine, engine
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.say("alice", n, "lockstep apply")
	s.repo.Push("alice", "b", "more", githubtest.Files{"net/c.tf": resource("c", "1")})
	s.settle()
	if len(engine.planned) != many || len(s.openTitles()) != many {
		t.Errorf("%d projects planned, %d issues", len(engine.planned), len(s.openTitles()))
	}
	for p, k := range engine.planned {
		if k != 1 {
			t.Errorf("%s is planned %d times", p, k)
		}
	}
	s.say("alice", n, "lockstep apply")
	if got := len(s.openTitles()); got != many {
		t.Errorf("%d issues after the second apply", got)
	}
}
