package dispatch_test

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// A watchedEngine notes the jobs that an engine gets for forks, and applies. Where it has no engine it has answers of its own.
type watchedEngine struct {
	jobs.Engine
	mu       sync.Mutex
	snapshot []jobs.Job
	planned  []jobs.Job
	applied  int
	during   func() // a snapshot is made
}

func (e *watchedEngine) Snapshot(ctx context.Context, j jobs.Job) (jobs.Snapshot, error) {
	e.mu.Lock()
	e.snapshot = append(e.snapshot, j)
	e.mu.Unlock()
	if e.during != nil {
		e.during()
	}
	if e.Engine == nil {
		return jobs.Snapshot{}, nil
	}
	return e.Engine.Snapshot(ctx, j)
}

func (e *watchedEngine) Plan(ctx context.Context, j jobs.Job) (jobs.PlanResult, error) {
	e.mu.Lock()
	e.planned = append(e.planned, j)
	e.mu.Unlock()
	if e.Engine == nil {
		return jobs.PlanResult{Previewed: j.Snapshot != nil, Plan: []byte("a process that lies"), Outputs: []byte("lies"), Applyable: true, Report: "1 to add"}, nil
	}
	return e.Engine.Plan(ctx, j)
}

func (e *watchedEngine) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	e.mu.Lock()
	e.applied++
	e.mu.Unlock()
	return e.Engine.Apply(ctx, j, plan, permit)
}

// bare are the jobs that have been planned of a snapshot, and others.
func (e *watchedEngine) bare() (bare, others int) {
	for _, j := range e.planned {
		if j.Snapshot != nil {
			bare++
		} else {
			others++
		}
	}
	return bare, others
}

const (
	forksAllowed = "allow {\n  forks = true\n}\n"
	netProject   = "project \"net\" {\n  dir = \"net\"\n}\n"
	secretInNet  = "variable \"password\" {\n  default   = \"correct-horse-battery\"\n  sensitive = true\n}\n\nresource \"terraform_data\" \"secret\" {\n  input = var.password\n}\n\n"
)

// theirs has mallory open a pull request from a fork.
func (s *stage) theirs(files githubtest.Files) (fork *githubtest.Repository, n int, head string) {
	s.t.Helper()
	fork = s.repo.Fork("mallory")
	fork.Push("mallory", "theirs", "Theirs", files)
	n = s.repo.OpenPullFrom(fork, "mallory", "Theirs", "theirs")
	s.settle()
	return fork, n, fork.Head("theirs")
}

// TestForkIsPlanned is the life of a fork's pull request where the base branch allows it: the commit that a maintainer names
// is planned without credentials, nothing of it is applied, and what is merged is planned anew.
func TestForkIsPlanned(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{
		"net/main.tf":  secretInNet,
		"lockstep.hcl": netProject + forksAllowed + "hook \"ticket\" {\n  on = [\"before_plan\", \"after_plan\"]\n  program = \"ticket\"\n}\n",
	})
	s.strict = true
	e := &watchedEngine{Engine: s.pipeline.Engine}
	s.pipeline.Engine = e
	hook := &steps{}
	hook.use(s)
	first := s.pull("alice", "first", githubtest.Files{"net/a.tf": resource("a", "1")})
	s.expect("the first apply", s.say("alice", first, "lockstep apply"), "**Applied** `net`: 2 added")
	s.repo.Merge("alice", first)
	s.settle()
	called := len(hook.events)
	e.planned = nil

	fork, n, head := s.theirs(githubtest.Files{"net/b.tf": resource("b", "1") + "\noutput \"loot\" {\n  value = nonsensitive(terraform_data.secret.output)\n}\n"})
	name := "`lockstep plan " + head + "`"
	s.expect("the answer to the push", s.repo.Comments(n)[0].Body, "**Not planned**", "comes from a fork", name)
	s.expect("its author", s.say("mallory", n, "lockstep plan "+head), "`mallory` has the permission `read`", "The pull request comes from a fork, and its author")
	s.expect("no commit", s.say("alice", n, "lockstep plan"), "**Not planned**", name)
	s.expect("a part of its ID", s.say("alice", n, "lockstep plan "+head[:12]), "is not a full commit ID, and somebody could create another commit with the same beginning.", name)
	s.expect("another command", s.say("alice", n, "lockstep drift"), "**Not planned**", name)
	if bare, others := e.bare(); bare+others+len(e.snapshot) > 0 {
		t.Fatalf("%d plans, and %d snapshots, that nobody may have", bare+others, len(e.snapshot))
	}

	s.expect("a maintainer names it", s.say("alice", n, "lockstep plan "+head), "**Planned** `net`: 1 to add")
	if bare, others := e.bare(); bare != 1 || others != 0 || len(e.snapshot) != 1 || len(hook.events) != called {
		t.Errorf("%d plans without credentials, %d others, %d snapshots, %d calls of hooks", bare, others, len(e.snapshot), len(hook.events)-called)
	}
	status := s.status(n)
	s.expect("the status", status, "1 to add, 1 to change, 0 to destroy (`"+head[:7]+"`)", "previewed without credentials, from a snapshot of the state", "because `alice` named the commit", "Lockstep applies nothing from a fork before the merge")
	if strings.Contains(status, "horse") || strings.Contains(status, "To apply this plan") {
		t.Errorf("%s", status)
	}
	for _, c := range s.repo.Checks(head) {
		want := map[string]string{"lockstep": "neutral 1 project previewed without credentials – 1 to add, 1 to change, 0 to destroy", "lockstep/net": "success Previewed without credentials, from a snapshot of the state – 1 to add, 1 to change, 0 to destroy"}
		if got := string(c.Conclusion) + " " + c.Title; got != want[c.Name] {
			t.Errorf("%s: %s", c.Name, got)
		}
	}
	s.expect("an apply", s.say("alice", n, "lockstep apply"), "**Not applied**", "Merge it. Then comment `lockstep plan` to plan it with credentials, read the plan, and apply it.")
	s.expect("a plan and an apply in one", s.say("alice", n, "lockstep plan "+head+"\nlockstep apply"), "**Planned** `net`", "**Not applied**")

	fork.Push("mallory", "theirs", "More", githubtest.Files{"net/c.tf": resource("c", "1")})
	s.settle()
	next := fork.Head("theirs")
	s.expect("the status", s.status(n), "Nothing is planned (`"+next[:7]+"`)", "`lockstep plan "+next+"`")
	if c := s.repo.Checks(next); len(c) != 1 || c[0].Conclusion != "action_required" || !strings.Contains(c[0].Summary, "lockstep plan "+next) {
		t.Errorf("after a push: %+v", c)
	}
	s.expect("the former commit", s.say("alice", n, "lockstep plan "+head), "is not the latest commit of the pull request, which is", "`lockstep plan "+next+"`")

	s.expect("the next commit", s.say("alice", n, "lockstep plan "+next), "**Planned** `net`: 2 to add")

	applied := e.applied
	s.repo.Merge("alice", n)
	s.settle()
	if e.applied != applied {
		t.Error("the plan of a fork was applied")
	}
	s.expect("a plan of what was merged", s.answer(n, "merge"), "**Planned** `net`: 2 to add")
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
}

// TestForkGrantsItselfNothing holds that the base branch alone has commits of forks planned.
func TestForkGrantsItselfNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject})
	e := &watchedEngine{}
	s.pipeline.Engine = e
	_, n, head := s.theirs(githubtest.Files{"lockstep.hcl": netProject + forksAllowed, "net/b.tf": resource("b", "1")})
	s.expect("a maintainer names it", s.say("alice", n, "lockstep plan "+head), "**Not planned**", "comes from a fork", "`forks = true`")
	if len(e.planned)+len(e.snapshot) > 0 {
		t.Error("it was planned")
	}
	// A branch that nobody has named grants nothing, either.
	s.repo.Push("bob", "lax", "Lax", githubtest.Files{"lockstep.hcl": netProject + forksAllowed})
	s.repo.Retarget("bob", n, "lax")
	s.settle()
	s.expect("into another branch", s.say("alice", n, "lockstep plan "+head), "**Not planned**", "comes from a fork", "everybody who can push to a branch could change the settings")
	if len(e.planned)+len(e.snapshot) > 0 {
		t.Error("it was planned")
	}
}

// TestForkIsPushedMeanwhile pushes at every moment between the comment and the plan: the commit that was named is planned,
// or none.
func TestForkIsPushedMeanwhile(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before the comment is handled", "before it is planned", "while it is planned"} {
		s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject + forksAllowed})
		e := &watchedEngine{Engine: s.pipeline.Engine}
		s.pipeline.Engine = e
		fork, n, head := s.theirs(githubtest.Files{"net/b.tf": resource("b", "harmless")})
		push := sync.OnceFunc(func() {
			fork.Push("mallory", "theirs", "More", githubtest.Files{"net/b.tf": resource("b", "evil")})
		})
		handle := s.pipeline.Handle
		s.repo.Comment("alice", n, "lockstep plan "+head)
		switch when {
		case "before the comment is handled":
			push()
		case "while it is planned":
			e.during = push
		}
		for range 20 {
			if _, err := s.hub.Deliver(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
				if m.Kind == pipeline.ToPlan && when == "before it is planned" {
					push()
				}
				return handle(ctx, m)
			})
		}
		for _, c := range s.repo.Comments(n) {
			if strings.Contains(c.Body, "evil") {
				t.Errorf("%s: %s", when, c.Body)
			}
		}
		bare, others := e.bare()
		if others > 0 || bare > 1 || bare == 1 && when != "while it is planned" {
			t.Errorf("%s: %d plans, and %d with credentials", when, bare, others)
		}
		for _, j := range e.planned {
			if j.Head != head {
				t.Errorf("%s: %s was planned", when, j.Head)
			}
		}
	}
}

// TestForkStaysWithItsState holds that the state, the environment and the providers of a fork's project are those of the base
// branch, whatever its own files say, and that the process that plans it has none of them.
func TestForkStaysWithItsState(t *testing.T) {
	t.Parallel()
	at := func(key string) string {
		return fmt.Sprintf("terraform {\n  backend \"s3\" {\n    bucket = \"states\"\n    key    = %q\n    region = \"eu-west-1\"\n  }\n}\n", key)
	}
	const environment = "environment \"quiet\" {\n  env = { TEAM = \"x\" }\n}\nenvironment \"loud\" {\n  plan_role = \"arn:aws:iam::123456789012:role/plan\"\n  apply_role = \"arn:aws:iam::123456789012:role/apply\"\n}\n"
	project := func(name, dir, env string) string {
		return fmt.Sprintf("project %q {\n  dir = %q\n  environment = %q\n}\n", name, dir, env)
	}
	base := project("net", "net", "quiet") + project("prod", "prod", "loud") + environment + forksAllowed
	for name, c := range map[string]struct {
		files githubtest.Files
		want  string // of the refusal; "": it is planned
	}{
		"as it is":          {githubtest.Files{"net/b.tf": resource("b", "1")}, ""},
		"another backend":   {githubtest.Files{"net/main.tf": resource("a", "1") + at("else")}, "The pull request comes from a fork, and changes the address of the state of `net`."},
		"another directory": {githubtest.Files{"lockstep.hcl": project("net", "prod", "quiet") + environment, "net/backend.tf": githubtest.Deleted, "net/main.tf": resource("a", "2"), "prod/x.tf": resource("x", "1")}, "The pull request comes from a fork, and changes the address of the state of `net`."},
		"an environment":    {githubtest.Files{"lockstep.hcl": project("net", "net", "loud") + environment, "net/b.tf": resource("b", "1")}, ""},
		"another name":      {githubtest.Files{"lockstep.hcl": project("mine", "net", "loud") + environment, "net/b.tf": resource("b", "1")}, "The pull request comes from a fork, and adds the project `mine`."},
		"a workspace":       {githubtest.Files{"lockstep.hcl": strings.Replace(project("net", "net", "quiet"), "}", "  workspace = \"prod\"\n}", 1) + environment, "net/b.tf": resource("b", "1")}, "The pull request comes from a fork, and adds the project `net`."},
	} {
		s := newStage(t, githubtest.Files{"README.md": "hello"})
		s.repo.Push("alice", "main", "Base", githubtest.Files{"net/main.tf": resource("a", "1") + at("net"), "prod/main.tf": resource("p", "1") + at("prod"), "lockstep.hcl": base})
		s.settle()
		e := &watchedEngine{}
		s.pipeline.Engine = e
		_, n, head := s.theirs(c.files)
		answer := s.say("alice", n, "lockstep plan "+head)
		if c.want != "" {
			s.expect(name, answer+s.status(n), c.want)
		}
		n0 := 0
		for _, j := range e.planned {
			if j.Project == "mine" || j.Project == "net" && (j.Workspace == "prod" || name != "a workspace") {
				n0++
			}
		}
		if (n0 > 0) != (c.want == "") {
			t.Errorf("%s: %d plans: %s", name, n0, answer)
		}
		for _, j := range e.snapshot {
			if j.Project == "net" && (j.State.String() != "s3://states/net" || j.Environment.Name() != "quiet" || j.Dir != "net") {
				t.Errorf("%s: the snapshot is of %s, with the environment %s", name, j.State, j.Environment.Name())
			}
		}
		for _, j := range e.planned {
			if j.Snapshot == nil || j.Environment.Name() != "" || j.State.String() != "" || j.Installation != 0 {
				t.Errorf("%s: %+v", name, j)
			}
		}
		if c.want != "" {
			continue
		}
		r := s.of(n, "net")
		if !runs.Preview(r) || r.Plan.Applyable || r.Plan.Hash != "" || r.Plan.Parts != nil || r.Phase != runs.Planned {
			t.Errorf("%s: %+v", name, r)
		}
		if saved, err := s.data.Artifacts.Get(t.Context(), r.SavedPlan()); err == nil {
			t.Errorf("%s: a plan is kept that could be applied: %s", name, saved)
		}
	}
}

// forkStory is of a fork's commit that a maintainer names, of a push after it, and of the merge.
func forkStory(t *testing.T, f *faults) {
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject + forksAllowed})
	e := &watchedEngine{Engine: s.pipeline.Engine}
	s.pipeline.Engine = e
	fork := s.repo.Fork("mallory")
	fork.Push("mallory", "theirs", "Theirs", githubtest.Files{"net/b.tf": resource("b", "1")})
	head := fork.Head("theirs")
	f.use(s)
	n := s.repo.OpenPullFrom(fork, "mallory", "Theirs", "theirs")
	s.stubborn()
	name := func(sha string) string { return "Read the commit, then comment `lockstep plan " + sha + "`" }
	s.expect(f.String()+": the answer to the push", s.answer(n, "push"), "**Not planned**", "comes from a fork", name(head))
	id := s.repo.Comment("alice", n, "lockstep plan "+head)
	s.stubborn()
	s.expect(f.String()+": the answer", s.answerTo(n, id), "**Planned** `net`: 2 to add")
	s.expect(f.String()+": the status", s.status(n), "previewed without credentials, from a snapshot of the state – 2 to add, 0 to change, 0 to destroy (`"+head[:7]+"`)")
	fork.Push("mallory", "theirs", "More", githubtest.Files{"net/c.tf": resource("c", "1")})
	s.stubborn()
	next := fork.Head("theirs")
	s.expect(f.String()+": the answer to the next push", s.answer(n, "push"), name(next))
	s.expect(f.String()+": the status", s.status(n), "Nothing is planned (`"+next[:7]+"`)", name(next))
	if strings.Contains(s.answer(n, "push"), head) {
		t.Errorf("%v: the former commit is named still: %s", f, s.answer(n, "push"))
	}
	for sha, want := range map[string]string{head: "lockstep cancelled, lockstep/net success", next: "lockstep action_required"} {
		var got []string
		for _, c := range s.repo.Checks(sha) {
			got = append(got, c.Name+" "+string(c.Conclusion))
		}
		slices.Sort(got)
		if strings.Join(got, ", ") != want {
			t.Errorf("%v: the checks of %.7s are %s, want %s", f, sha, got, want)
		}
	}
	if _, others := e.bare(); others > 0 || e.applied > 0 {
		t.Errorf("%v: %d plans with credentials, %d applies", f, others, e.applied)
	}
	for _, j := range e.planned {
		if j.Head != head {
			t.Errorf("%v: %.7s was planned, which nobody has named", f, j.Head)
		}
	}
	e.planned = nil
	s.repo.Merge("alice", n) // a head without a plan, and the base branch's now
	s.stubborn()
	s.expect(f.String()+": the answer to the merge", s.answer(n, "merge"), "**Planned** `net`: 3 to add")
	if got := len(s.repo.Comments(n)); got != 5 {
		t.Errorf("%v: %d comments", f, got)
	}
	if e.applied > 0 || len(e.planned) == 0 {
		t.Errorf("%v: %d plans and %d applies after the merge", f, len(e.planned), e.applied)
	}
	for _, j := range e.planned {
		if j.Head != next || j.Snapshot != nil {
			t.Errorf("%v: %.7s was planned after the merge", f, j.Head)
		}
	}
	plans := map[string]bool{}
	for _, name := range usable(artifacts(t, s)) {
		plans[path.Dir(name)] = true
	}
	if len(plans) != 1 {
		t.Errorf("%v: kept after the merge: %v", f, plans)
	}
	s.tidy(f)
}

// TestForkStory is the story without a fault.
func TestForkStory(t *testing.T) {
	t.Parallel()
	forkStory(t, &faults{at: -1})
}

// TestForkOfDocuments holds that a pull request of which nothing may be planned passes if there is nothing to plan: it changes
// documents. A file of a configuration, or one that a project depends on, is none.
func TestForkOfDocuments(t *testing.T) {
	t.Parallel()
	const settings = "project \"net\" {\n  dir          = \"net\"\n  when_changed = [\"net/*.tf\", \"rules/*.json\"]\n}\n"
	for name, test := range map[string]struct {
		files githubtest.Files
		pass  bool
	}{
		"documents":                       {githubtest.Files{"README.md": "better\n", "docs/a.md": "new\n"}, true},
		"a configuration":                 {githubtest.Files{"net/b.tf": resource("b", "1")}, false},
		"one that is new":                 {githubtest.Files{"other/b.tf": resource("b", "1")}, false},
		"a file that a project is about":  {githubtest.Files{"rules/a.json": "{}\n"}, false},
		"the settings":                    {githubtest.Files{"lockstep.hcl": "", "README.md": "better\n"}, false},
		"a configuration beside them":     {githubtest.Files{"README.md": "better\n", "net/b.tofu": resource("b", "1")}, false},
		"a configuration that is deleted": {githubtest.Files{"net/main.tf": githubtest.Deleted}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "README.md": "good\n", "lockstep.hcl": settings})
			_, n, head := s.theirs(test.files)
			var got string
			for _, c := range s.repo.Checks(head) {
				got += fmt.Sprintf("%s %s; ", c.Conclusion, c.Title)
			}
			want := "action_required Nothing is planned; "
			if test.pass {
				want = "success No project is affected; "
			}
			if got != want {
				t.Errorf("the check is %q, want %q", got, want)
			}
			if told := len(s.repo.Comments(n)); test.pass != (told == 0) {
				t.Errorf("%d comments", told)
			}
		})
	}
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "README.md": "good\n", "lockstep.hcl": settings})
	s.repo.Push("bob", "release", "Release", nil)
	s.repo.Push("alice", "words", "Words", githubtest.Files{"README.md": "better\n"})
	n := s.repo.OpenPull("alice", "Words", "words")
	s.repo.Retarget("alice", n, "release")
	s.settle()
	s.expect("into a branch that nobody has named", s.check("words"), "success No project is affected")
}

// TestForkAgain holds that the commit of a fork has to be named again once its pull request was closed, or goes into another branch,
// that people are told so in a comment of its own, and that a late event about it takes nothing away.
func TestForkAgain(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"late", "reopened", "retargeted"} {
		s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject + "allow {\n  forks = true\n  branches = [\"release\"]\n}\n"})
		s.repo.Push("bob", "release", "R", githubtest.Files{"doc.md": "x"})
		s.settle()
		fork, n, head := s.theirs(githubtest.Files{"net/b.tf": resource("b", "1")})
		s.say("alice", n, "lockstep plan "+head)
		checks := func() (out string) {
			for _, c := range s.repo.Checks(fork.Head("theirs")) {
				out += c.Name + ": " + string(c.Conclusion) + " " + c.Title + "\n"
			}
			return out
		}
		before := len(s.repo.Comments(n))
		switch how {
		case "late":
			s.repo.Retarget("alice", n, "release")
			s.repo.Retarget("alice", n, "main")
			s.settle()
			s.expect(how, s.status(n), "previewed without credentials")
			s.expect(how, checks(), "lockstep: neutral 1 project previewed without credentials", "lockstep/net: success")
			continue
		case "reopened":
			s.repo.Close("mallory", n)
			s.settle()
			s.repo.Reopen("mallory", n)
		case "retargeted":
			s.repo.Retarget("alice", n, "release")
		}
		s.settle()
		status := s.status(n)
		s.expect(how, status, "Nothing is planned", "`lockstep plan "+head+"`")
		if strings.Contains(status, "To plan again, push") {
			t.Errorf("%s: neither helps:\n%s", how, status)
		}
		if strings.Contains(status, "previewed without credentials") || strings.Contains(status, "terraform_data.b") != (how == "reopened") {
			t.Errorf("%s: the plan of before:\n%s", how, status)
		}
		s.expect(how, checks(), "lockstep: action_required Nothing is planned", "lockstep/net: cancelled Plan dropped, not applied")
		if got := s.repo.Comments(n)[before:]; len(got) != 1 || !strings.Contains(got[0].Body, "`lockstep plan "+head+"`") {
			t.Errorf("%s: nobody was told: %+v", how, got)
		}
		s.say("alice", n, "lockstep plan "+head)
		s.expect(how+", and named", s.status(n), "previewed without credentials")
	}
}
