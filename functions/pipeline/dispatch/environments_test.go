package dispatch_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// deployed is a repository with a project in an environment of GitHub, and one in none.
func deployed() githubtest.Files {
	return githubtest.Files{
		"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"),
		"lockstep.hcl": "environment \"prod\" {\n  github = \"production\"\n}\nproject \"net\" {\n  dir = \"net\"\n  environment = \"prod\"\n}\nproject \"app\" {\n  dir = \"app\"\n}\n",
	}
}

// guarded lets the App read the environments of GitHub, and makes one.
func (s *stage) guarded(name string, e githubtest.Environment) {
	s.hub.Accepts("actions", "read")
	s.repo.SetEnvironment(name, e)
}

// deployments are those of the repository: each environment, its last state and description.
func (s *stage) deployments() string {
	var out []string
	for _, d := range s.repo.Deployments() {
		if len(d.SHA) != 40 || len(d.States) == 0 {
			s.t.Errorf("a deployment is %+v", d)
			continue
		}
		out = append(out, fmt.Sprintf("%s %s", d.Environment, d.States[len(d.States)-1]))
	}
	return strings.Join(out, ", ")
}

// TestOutcomeBeforeThePlan holds that GitHub and people elsewhere are told of an apply although a push or a comment, whose event
// comes first, has the project planned again, or the pull request is closed: no record has the outcome then.
func TestOutcomeBeforeThePlan(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]func(*stage, int){
		"push":    func(s *stage, n int) { s.pushed(n, "b", githubtest.Files{"net/c.tf": resource("c", "1")}) },
		"comment": func(s *stage, n int) { s.command("alice", n, "lockstep plan") },
		"close": func(s *stage, n int) {
			s.repo.Close("alice", n)
			m := pipeline.Message{ID: "at-once", Kind: pipeline.Closed, Pull: s.ref(n), Action: "closed", Actor: "alice"}
			if err := s.pipeline.Handle(t.Context(), m); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := deployed()
			files["lockstep.hcl"] += "notify \"all\" {\n  on = [\"applied\"]\n  program = \"all\"\n}\n"
			s := newStage(t, files)
			h := &heard{}
			h.use(s)
			s.hub.Accepts("deployments", "write")
			s.guarded("production", githubtest.Environment{})
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
			m, _ := s.toApply("bob", n)
			head := s.repo.Head("b")
			if err := s.pipeline.Handle(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			event(s, n)
			s.settle()
			for _, d := range s.repo.Deployments() {
				if got := d.States[len(d.States)-1]; d.SHA != head || got != "success" {
					t.Errorf("the deployment of %.7s is %s in the end", d.SHA, got)
				}
			}
			if got := s.deployments(); got != "production success" {
				t.Errorf("the deployments are %q", got)
			}
			if got := h.since(); got != "all: net applied +2" {
				t.Errorf("told: %s", got)
			}
		})
	}
}

// TestOutcomeBeforeTheRest holds the same of an apply that is stopped, and asked for again at once.
func TestOutcomeBeforeTheRest(t *testing.T) {
	t.Parallel()
	files := deployed()
	files["lockstep.hcl"] += "notify \"all\" {\n  on = [\"applied\", \"apply_stopped\"]\n  program = \"all\"\n}\n"
	s := newStage(t, files)
	p := &parts{Engine: s.pipeline.Engine, of: 2, each: 1}
	h := &heard{}
	h.use(s)
	s.pipeline.Engine, s.pipeline.Poll = p, time.Millisecond
	s.hub.Accepts("deployments", "write")
	s.guarded("production", githubtest.Environment{})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	p.during = func(ctx context.Context, _ int) error {
		s.command("bob", n, "lockstep stop")
		<-ctx.Done()
		return nil
	}
	m, _ := s.toApply("bob", n)
	if err := s.pipeline.Handle(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	p.done, p.during, p.each = 0, nil, 2
	s.pipeline.Engine = from{p, s.runOf(n).Plan.State}
	id := s.repo.Comment("bob", n, "lockstep apply")
	again := pipeline.Message{ID: "again", Kind: pipeline.Commanded, Pull: s.ref(n), Comment: id, Actor: "bob", At: s.hub.Now(), Lines: grammar.Parse("lockstep apply")}
	if err := s.pipeline.Handle(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	s.settle()
	if got := s.deployments(); got != "production failure, production success" {
		t.Errorf("the deployments are %q", got)
	}
	if got := h.since(); got != "all: net apply_stopped +0, all: net applied +2" && got != "all: net applied +2, all: net apply_stopped +0" {
		t.Errorf("told: %s", got)
	}
}

// TestOutcomeOfARefusal holds the same of an apply that a hook refuses once GitHub was told that it runs.
func TestOutcomeOfARefusal(t *testing.T) {
	t.Parallel()
	files := deployed()
	files["lockstep.hcl"] += "hook \"ticket\" {\n  on = [\"before_apply\"]\n  program = \"ticket\"\n}\n"
	s := newStage(t, files)
	hook := &steps{say: map[string]string{"before_apply": `{"verdict": "deny"}`}}
	hook.use(s)
	s.hub.Accepts("deployments", "write")
	s.guarded("production", githubtest.Environment{})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.pipeline.Engine = asking{s.pipeline.Engine, func() {
		if err := s.pipeline.Handle(t.Context(), pipeline.Message{ID: "tell", Kind: pipeline.SyncComments, Pull: s.ref(n)}); err != nil {
			t.Error(err)
		}
	}}
	m, _ := s.toApply("bob", n)
	if err := s.pipeline.Handle(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if got := s.deployments(); got != "production in_progress" {
		t.Errorf("after the refusal: the deployments are %q", got)
	}
	hook.say = nil
	id := s.repo.Comment("bob", n, "lockstep apply")
	again := pipeline.Message{ID: "again", Kind: pipeline.Commanded, Pull: s.ref(n), Comment: id, Actor: "bob", At: s.hub.Now(), Lines: grammar.Parse("lockstep apply")}
	if err := s.pipeline.Handle(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	s.settle()
	if got := s.deployments(); got != "production inactive, production success" {
		t.Errorf("the deployments are %q", got)
	}
}

// asking is an engine before whose applies something happens.
type asking struct {
	jobs.Engine
	before func()
}

func (a asking) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	a.before()
	return a.Engine.Apply(ctx, j, plan, permit)
}

// TestDeployments records each apply to an environment of GitHub, and nothing else.
func TestDeployments(t *testing.T) {
	t.Parallel()
	s := newStage(t, deployed())
	s.hub.Accepts("deployments", "write")
	s.guarded("production", githubtest.Environment{})
	want := func(what, want string) {
		t.Helper()
		if got := s.deployments(); got != want {
			t.Errorf("%s: the deployments are %q, want %q", what, got, want)
		}
	}
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
	want("a plan", "")
	s.say("mallory", n, "lockstep apply")
	want("an apply that is refused", "")
	s.say("bob", n, "lockstep apply")
	want("an apply", "production success")
	s.say("bob", n, "lockstep help")
	want("nothing new", "production success")
	if d := s.repo.Deployments()[0]; d.SHA != s.repo.Head("b") || !strings.HasPrefix(d.Task, "lockstep:") || len(d.States) > 2 {
		t.Errorf("the deployment is %+v", d)
	}
	s.repo.Push("alice", "b", "Another", githubtest.Files{"net/c.tf": "resource \"terraform_data\" \"c\" {\n  lifecycle {\n    postcondition {\n      condition     = self.id == \"\"\n      error_message = \"no\"\n    }\n  }\n}\n"})
	s.settle()
	s.say("bob", n, "lockstep apply")
	want("an apply that fails", "production success, production failure")
}

// TestDeploymentsRefused holds that an apply comes to its end where the App may not record it, and that a pull request names no
// environment of GitHub of its own.
func TestDeploymentsRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t, deployed())
	s.guarded("production", githubtest.Environment{})
	var logged []string
	s.pipeline.Log = func(err error) { logged = append(logged, err.Error()) }
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "lockstep.hcl": strings.ReplaceAll(deployed()["lockstep.hcl"], `"production"`, `"evil"`)})
	s.expect("the answer", s.say("bob", n, "lockstep apply"), "**Applied** `net`: 2 added")
	if got := s.deployments(); got != "" {
		t.Errorf("the deployments are %s", got)
	}
	if len(logged) != 1 || !strings.Contains(logged[0], "record a deployment of acme/infra to production") {
		t.Errorf("the log has %q", logged)
	}
}

// deployStory records an apply, once.
func deployStory(t *testing.T, f *faults) {
	s := newStage(t, deployed())
	s.hub.Accepts("deployments", "write")
	s.guarded("production", githubtest.Environment{})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	f.use(s)
	id := s.repo.Comment("alice", n, "lockstep apply")
	s.stubborn()
	want := "production success"
	if !strings.Contains(s.answerTo(n, id), "**Applied**") {
		want = "production failure" // see appliedOnce
	}
	if got := s.deployments(); got != want {
		t.Errorf("%v: the deployments are %s", f, got)
	}
}

// TestEnvironments holds that an apply waits for the protection rules of the environment of GitHub that the base branch gives to its
// project, whatever the pull request names, and however the settings change.
func TestEnvironments(t *testing.T) {
	t.Parallel()
	s := newStage(t, deployed())
	s.hub.Accepts("deployments", "write")
	s.guarded("production", githubtest.Environment{Reviewers: []string{"acme/sre"}, PreventSelfReview: true})
	s.hub.SetTeam("acme", "sre", "carol", "bob")
	for _, who := range []string{"carol", "dave"} {
		s.repo.Grant(who, "write")
	}
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("the plan", s.status(n), "the protection rules of the GitHub environment `production`", "an approval of the planned commit by `acme/sre`")
	s.expect("before a review", s.say("bob", n, "lockstep apply"), "**Not applied** `net`", "`lockstep.hcl:1`")
	s.repo.Review("dave", n, github.Approved, "")
	s.settle()
	s.expect("a review by somebody else", s.say("bob", n, "lockstep apply"), "`dave` is not in ")
	s.repo.Review("bob", n, github.Approved, "")
	s.settle()
	s.expect("a review by who asks", s.say("bob", n, "lockstep apply"), "`bob` requested the apply")
	s.repo.Review("carol", n, github.Approved, "")
	s.settle()
	s.expect("a review by a reviewer", s.say("bob", n, "lockstep apply"), "**Applied** `net`")

	// Another environment in the pull request, none, or a new name: the base branch's counts.
	for i, settings := range []string{
		strings.ReplaceAll(deployed()["lockstep.hcl"], "  github = \"production\"\n", ""),
		strings.ReplaceAll(deployed()["lockstep.hcl"], `"production"`, `"playground"`),
		strings.ReplaceAll(deployed()["lockstep.hcl"], `project "net"`, `project "new"`),
	} {
		s.repo.SetEnvironment("playground", githubtest.Environment{})
		n := s.pull("alice", fmt.Sprint("c", i), githubtest.Files{"net/c.tf": resource("c", "1"), "lockstep.hcl": settings})
		if got := s.say("bob", n, "lockstep apply"); strings.Contains(got, "**Applied**") {
			t.Errorf("the pull request %d is applied with the settings\n%s\n%s", n, settings, got)
		}
	}

	// A plan that was made before the base branch names the environment.
	n = s.pull("alice", "d", githubtest.Files{"app/d.tf": resource("d", "1")})
	s.repo.Push("carol", "main", "Protected", githubtest.Files{"lockstep.hcl": strings.Replace(deployed()["lockstep.hcl"], "  dir = \"app\"\n", "  dir = \"app\"\n  environment = \"prod\"\n", 1)})
	s.settle()
	if got := s.say("bob", n, "lockstep apply"); strings.Contains(got, "**Applied**") {
		t.Errorf("it is applied: %s", got)
	}
}

// TestEnvironmentsUnknown holds that rules that GitHub does not tell are not fulfilled, and that people read the remedy.
func TestEnvironmentsUnknown(t *testing.T) {
	t.Parallel()
	s := newStage(t, deployed())
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("without the permission", s.say("bob", n, "lockstep apply"), "**Not applied** `net`", `the permission "Actions: read"`)
	s.hub.Accepts("actions", "read")
	s.expect("without the environment", s.say("bob", n, "lockstep apply"), "there is none of this name", "lockstep.hcl on the base branch")
	s.guarded("production", githubtest.Environment{Branches: []string{"release/*"}})
	s.expect("from another branch", s.say("bob", n, "lockstep apply"), "**not met**: an environment that the base branch can deploy to")
	s.guarded("production", githubtest.Environment{Apps: []string{"bouncer"}})
	s.expect("with a rule of an App", s.say("bob", n, "lockstep apply"), "the protection rule `bouncer` (only GitHub Actions can check that rule")
	s.guarded("production", githubtest.Environment{Wait: 1, Branches: []string{"m*"}, Reviewers: []string{"bob"}})
	s.expect("a reviewer who applies", s.say("bob", n, "lockstep apply"), "**Applied** `net`")
}

// TestEnvironmentOfAPath holds that the rules of an environment count whose name has a slash, and are those of no other one.
func TestEnvironmentOfAPath(t *testing.T) {
	t.Parallel()
	files := deployed()
	files["lockstep.hcl"] = strings.Replace(files["lockstep.hcl"], `"production"`, `"production/eu west"`, 1)
	s := newStage(t, files)
	s.hub.Accepts("deployments", "write")
	s.guarded("production", githubtest.Environment{})
	s.guarded("production/eu west", githubtest.Environment{Reviewers: []string{"bob"}})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("an apply", s.say("alice", n, "lockstep apply"), "**Not applied** `net`", "the protection rules of the GitHub environment `production/eu west`", "an approval of the planned commit by `bob`")
	s.expect("a reviewer's", s.say("bob", n, "lockstep apply"), "**Applied** `net`")
	if got := s.deployments(); got != "production/eu west success" {
		t.Errorf("the deployments are %s", got)
	}
}

// TestWaitOfAnEnvironment holds that the janitor comes back when the waiting time of an environment ends, also where nothing happens once
// the plan is shown.
func TestWaitOfAnEnvironment(t *testing.T) {
	t.Parallel()
	s := newStageAt(t, deployed(), time.Now)
	s.guarded("production", githubtest.Environment{Wait: 5})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.headIs("before its end", "b", "action_required 1 project waiting for a requirement")
	w := s.watched(n)
	if in := time.Until(w.Until); in < 3*time.Minute || in > 10*time.Minute {
		t.Errorf("the janitor comes back in %v", in)
	}
	s.roundAt(w.Until, reconcile.Found{Decisions: 1})
	s.expect("the status", s.status(n), "5 minutes since the plan was posted (until `")
}

// TestDeploymentOfAMerge holds that an apply by the merge is recorded as a deployment of the commit that the base branch has: of
// a squash it does not have the head.
func TestDeploymentOfAMerge(t *testing.T) {
	t.Parallel()
	files := deployed()
	files["lockstep.hcl"] = strings.Replace(files["lockstep.hcl"], "  dir = \"net\"\n", "  dir = \"net\"\n  apply = \"merge\"\n", 1)
	s := newStage(t, files)
	s.hub.Accepts("deployments", "write")
	s.guarded("production", githubtest.Environment{})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	merged := s.repo.Squash("bob", n)
	s.settle()
	s.expect("the answer to the merge", s.answer(n, "merge"), "**Applied** `net`")
	if all := s.repo.Deployments(); len(all) != 1 || all[0].SHA != merged {
		t.Errorf("%s is merged, and the deployments are %+v", merged, all)
	}
}

// TestRenamedInAnEnvironment holds that an apply of a project that gets another name is refused for the rules of its environment and for
// the merge that comes before it, at once: a review alone would not do.
func TestRenamedInAnEnvironment(t *testing.T) {
	t.Parallel()
	s, _ := newBuckets(t, deployed())
	s.hub.Accepts("deployments", "write")
	s.guarded("production", githubtest.Environment{Reviewers: []string{"bob"}})
	first := s.pull("alice", "a", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.say("bob", first, "lockstep apply")
	s.repo.Merge("bob", first)
	s.settle()
	n := s.pull("alice", "b", githubtest.Files{"net/c.tf": resource("c", "1"), "lockstep.hcl": strings.Replace(deployed()["lockstep.hcl"], "project \"net\"", "project \"live\"", 1)})
	got := s.say("alice", n, "lockstep apply")
	s.expect("before a review", got, "**Not applied** `live`", "an approval of the planned commit by `bob`", "still belongs to the project `net` on the base branch, so the plan can be applied only after the merge.", "Merge the pull request first. Then comment `lockstep retry`")
	s.lacks("before a review", got, "comment `lockstep apply`")
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("the plan after the merge", s.say("alice", n, "lockstep retry"), "**Planned** `live`")
	got = s.say("alice", n, "lockstep apply")
	s.expect("its apply", got, "an approval of the planned commit by `bob`", "comment `lockstep apply`")
	s.lacks("its apply", got, "Merge the pull request first")
	s.expect("by the reviewer", s.say("bob", n, "lockstep apply"), "**Applied** `live`: 1 added")
}
