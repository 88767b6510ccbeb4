package dispatch_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runstatus"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

const (
	unordered = "project \"net\" {\n  dir = \"net\"\n}\nproject \"app\" {\n  dir = \"app\"\n}\n"
	appLast   = "project \"net\" {\n  dir = \"net\"\n}\nproject \"app\" {\n  dir = \"app\"\n  depends_on = [\"net\"]\n}\n"
)

// TestOrderOfApplies holds that two projects are applied one after the other, by one comment.
func TestOrderOfApplies(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": appLast})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
	s.expect("the second one alone", s.say("bob", n, "lockstep apply -p app"), "**Not applied** `app`", "`app` depends on `net`, which is not applied.", "`lockstep apply -p net`")
	s.expect("both", s.say("bob", n, "lockstep apply"), "**Applied** `net`: 2 added", "**Applied** `app`: 2 added")
}

// TestOrderIsShown holds that a plan which is applied after another one says so, wherever it is shown, with a command that applies
// both; and once the other is applied, with its own.
func TestOrderIsShown(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": appLast})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
	buttons := func() (all string) {
		for _, b := range s.checkOf("b", "lockstep/app").Buttons {
			all += b.Identifier + "; "
		}
		return all
	}
	places := func() map[string]string {
		p, err := runstatus.Project(t.Context(), s.records, s.of(n, "app"), s.of(n, "app").Spec.Head)
		if err != nil {
			t.Fatal(err)
		}
		return map[string]string{"the check": s.checkOf("b", "lockstep/app").Summary, "the page": comment.Check{ProjectStatus: p}.Summary(1 << 16)}
	}
	const after, own = "after `net`", "To apply this plan, comment `lockstep apply -p app`"
	s.expect("the status", s.status(n), "| ready to apply, "+after+" | `app` | 2 to add, 0 to change, 0 to destroy |", "Lockstep applies projects in the order of their dependencies")
	s.expect("the check that can be required", s.checkOf("b", "lockstep").Summary, after)
	for name, text := range places() {
		s.expect(name, text, after, "This project is applied after `net`, which it depends on. Comment `lockstep apply` on the pull request to apply both in that order.")
		s.without(name, text, own, "and no other")
	}
	if got := buttons(); got != "plan; " {
		t.Errorf("the buttons are %s", got)
	}
	s.expect("the check of the other one", s.checkOf("b", "lockstep/net").Summary, "To apply this plan, comment `lockstep apply -p net`")
	s.say("bob", n, "lockstep apply -p net")
	s.without("the status then", s.status(n), after, "in their order")
	for name, text := range places() {
		s.expect(name+" then", text, own)
		s.without(name+" then", text, after)
	}
	if got := buttons(); !strings.HasPrefix(got, "apply ") {
		t.Errorf("the buttons are %s then", got)
	}
	s.expect("its apply", s.say("bob", n, "lockstep apply -p app"), "**Applied** `app`")
}

// TestPartInOrder holds that a project is behind another one until all is applied that the pull request changes of that: a plan
// which leaves it out releases nobody, neither without changes nor applied.
func TestPartInOrder(t *testing.T) {
	t.Parallel()
	for _, plan := range []string{"lockstep drift -p PROJECT", "lockstep plan -p PROJECT -target=terraform_data.a\nlockstep apply -p PROJECT", "lockstep plan -p PROJECT -target=terraform_data.b\nlockstep apply -p PROJECT"} {
		t.Run(plan, func(t *testing.T) {
			t.Parallel()
			s := dependent(t)
			n := s.pull("alice", "change", githubtest.Files{"net/b.tf": resource("b", "2"), "net/c.tf": resource("c", "1"), "app/c.tf": resource("c", "1")})
			for line := range strings.Lines(strings.ReplaceAll(plan, "PROJECT", "net")) {
				s.say("alice", n, line)
			}
			s.expect("app", s.say("alice", n, "lockstep apply -p app"), "**Not applied** `app`", "`app` depends on `net`, which is not applied.", "The plan of `net` cannot be applied as it is. First comment `lockstep plan -p net`, and read the result.")
			s.say("alice", n, "lockstep plan -p net")
			s.expect("both", s.say("alice", n, "lockstep apply"), "**Applied** `net`", "**Applied** `app`")
			s.repo.Merge("alice", n)
			s.settle()
			n = s.pull("alice", "remove", githubtest.Files{"lockstep.hcl": "project \"o\" {\n  dir = \"o\"\n}\n"})
			for line := range strings.Lines(strings.ReplaceAll(plan, "PROJECT", "app")) {
				s.say("alice", n, line)
			}
			s.expect("net is destroyed", s.say("alice", n, "lockstep apply -p net"), "**Not applied** `net`", "`net` can be destroyed only once `app`, which depends on it, is applied.", "The plan of `app` cannot be applied as it is. First comment `lockstep plan -p app`, and read the result.")
			s.say("alice", n, "lockstep plan -p app")
			s.expect("both are destroyed", s.say("alice", n, "lockstep apply"), "**Not applied**", "Such a plan needs a command of its own")
			s.expect("app is destroyed", s.say("alice", n, "lockstep apply -p app"), "**Applied** `app`")
			s.expect("net is destroyed after it", s.say("alice", n, "lockstep apply -p net"), "**Applied** `net`")
		})
	}
}

// TestPartInOrderOfMerge holds the same where the merge applies the project behind it, and that a plan of a project that the
// pull request does not touch holds up nobody, whatever it leaves out.
func TestPartInOrderOfMerge(t *testing.T) {
	t.Parallel()
	for _, changed := range []bool{true, false} {
		files := githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": strings.Replace(appLast, "dir = \"app\"\n", "dir = \"app\"\n  apply = \"merge\"\n", 1)}
		s := newStage(t, files)
		n := s.pull("alice", "first", githubtest.Files{"net/b.tf": resource("b", "1")})
		s.say("alice", n, "lockstep apply")
		s.repo.Merge("alice", n)
		s.settle()
		change := githubtest.Files{"app/c.tf": resource("c", "1")}
		if changed {
			change["net/c.tf"] = resource("c", "1")
		}
		n = s.pull("alice", "change", change)
		s.expect("no drift", s.say("alice", n, "lockstep drift -p net"), "**Planned** `net`: no changes")
		s.repo.Merge("alice", n)
		s.settle()
		if applied := strings.Contains(s.status(n), "| applied by `alice` |"); applied == changed {
			t.Errorf("net is changed %v, app is applied %v:\n%s", changed, applied, s.status(n))
		}
	}
}

// TestOrderOfAFormerBase holds that an order of the base branch ends with it: once the pull request goes into another branch, and once
// the branch takes the order back.
func TestOrderOfAFormerBase(t *testing.T) {
	t.Parallel()
	const release = "allow {\n  branches = [\"release\"]\n}\n"
	both := githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")}
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": unordered + release})
	s.repo.Push("bob", "release", "An order", githubtest.Files{"lockstep.hcl": appLast})
	s.settle()
	n := s.pull("alice", "b", both)
	s.repo.Retarget("alice", n, "release")
	s.settle()
	s.expect("there", s.say("alice", n, "lockstep apply -p app"), "**Not applied** `app`", "`app` depends on `net`, which is not applied.")
	s.repo.Retarget("alice", n, "main")
	s.settle()
	s.expect("and back", s.say("alice", n, "lockstep apply -p app"), "**Applied** `app`: 2 added")

	s = newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": appLast})
	n = s.pull("alice", "b", both)
	s.repo.Push("bob", "main", "No order any more", githubtest.Files{"lockstep.hcl": unordered})
	s.settle()
	s.say("alice", n, "lockstep plan")
	s.expect("taken back", s.say("alice", n, "lockstep apply -p app"), "**Applied** `app`: 2 added")
}

// TestCheckOfALeftWait is the story of a history (seed 62000145): the apply of a project waits for that of another one, and
// there is another head. It holds that the check of the former head is ended, though its plan has come to no outcome.
func TestCheckOfALeftWait(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": appLast})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
	old := s.repo.Head("b")
	m, _ := s.toApply("bob", n)
	if got := s.pending(old); !strings.Contains(strings.Join(got, ", "), "lockstep/app") {
		t.Fatalf("it does not wait: %q", got)
	}
	s.pushed(n, "b", githubtest.Files{"app/c.tf": resource("c", "1")})
	if err := s.pipeline.Handle(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	s.settle()
	if got := s.pending(old); len(got) > 0 {
		t.Errorf("the former head waits for ever: %q", got)
	}
}

// TestOrderUnderTheLock holds that the order is read once more before the first change, from the files themselves: whoever
// may write records can hide it from those who accept an apply.
func TestOrderUnderTheLock(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": unordered})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1"), "lockstep.hcl": appLast})
	pull := pipeline.Pull{Installation: s.repo.Installation(), Repo: s.repo.Repo(), Number: n}
	all, err := s.records.List(t.Context(), pull.Runs())
	if err != nil || len(all) != 2 {
		t.Fatal(len(all), err)
	}
	for _, rec := range all {
		var r runs.Run
		if err := json.Unmarshal(rec.Value, &r); err != nil {
			t.Fatal(err)
		}
		r.Spec.Ordered = false
		if _, err := s.records.Put(t.Context(), rec.Key, pipeline.Encode(r), rec.Version); err != nil {
			t.Fatal(err)
		}
	}
	s.expect("accepted in error", s.say("bob", n, "lockstep apply -p app"), "**Not applied** `app`", "`app` depends on `net`, which is not applied.")
	for _, rec := range all {
		var r runs.Run
		now, err := s.records.Get(t.Context(), rec.Key)
		if err == nil {
			err = json.Unmarshal(now.Value, &r)
		}
		if err != nil || r.Phase != runs.Planned || r.Project == "app" && r.Asked.Try != 1 {
			t.Error(fmt.Sprint(r.Project, " ", r.Phase, " ", r.Asked.Try), err)
		}
	}
}

// TestInputsOrder holds that inputs are an order of plans and applies, which the head of a pull request cannot take away, and
// that mistakes in them are told with their line.
func TestInputsOrder(t *testing.T) {
	t.Parallel()
	const passed = "project \"net\" {\n  dir = \"net\"\n}\nproject \"app\" {\n  dir = \"app\"\n  inputs = { id = project.net.outputs.id }\n}\n"
	const id = "variable \"id\" {\n  default = \"none\"\n}\n"
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1") + id, "lockstep.hcl": passed})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1"), "lockstep.hcl": unordered})
	s.expect("the second one alone", s.say("bob", n, "lockstep apply -p app"), "**Not applied** `app`", "`app` depends on `net`, which is not applied.")
	s.expect("both", s.say("bob", n, "lockstep apply"), "**Applied** `net`: 2 added", "**Applied** `app`: 2 added")
	for change, want := range map[string]string{
		"project.net.outputs.id => project.nte.outputs.id":                         "Did you mean \"net\"?",
		"project.net.outputs.id => project.app.outputs.id":                         "takes an input from its own outputs",
		"project.net.outputs.id => project[var.x].outputs.id":                      "Write the name of the project",
		"dir = \"net\" => dir = \"net\"\n  inputs = { x = project.app.outputs.x }": "app -> net -> app",
		"project.net.outputs.id => project.net.outputs.x":                          "keep it in S3", // as far as a state on this machine gets
	} {
		from, to, _ := strings.Cut(change, " => ")
		n := s.pull("alice", fmt.Sprint("c", len(change), len(want)), githubtest.Files{"lockstep.hcl": strings.Replace(passed, from, to, 1)})
		s.expect(change, strings.Join(strings.Fields(s.status(n)), " "), "on lockstep.hcl line", want)
	}
}

// TestOrderOfAtlantis holds that the groups of an atlantis.yaml on the base branch are an order of applies.
func TestOrderOfAtlantis(t *testing.T) {
	t.Parallel()
	const groups = "version: 3\nprojects:\n- {name: net, dir: net}\n- {name: app, dir: app, execution_order_group: 1}\n"
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "atlantis.yaml": groups})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1"), "atlantis.yaml": strings.Replace(groups, ", execution_order_group: 1", "", 1)})
	s.expect("the second one alone", s.say("bob", n, "lockstep apply -p app"), "**Not applied** `app`", "`app` depends on `net`, which is not applied.")
	s.expect("both", s.say("bob", n, "lockstep apply"), "**Applied** `net`: 2 added", "**Applied** `app`: 2 added")
}

// TestOrderAfterAFailedDestruction holds that a plan to destroy a project that fails does not let those that depend on it go before its
// change, and that a plan of the change turns the order back.
func TestOrderAfterAFailedDestruction(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": appLast})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
	e := &unknowing{Engine: s.pipeline.Engine, project: "net"}
	s.pipeline.Engine = e
	s.say("alice", n, "lockstep plan -destroy -p net")
	s.expect("the status", s.status(n), "| ready to apply, after `net` | `app` | 2 to add, 0 to change, 0 to destroy |")
	s.expect("an apply", s.say("alice", n, "lockstep apply -p app"), "**Not applied** `app`", "`app` depends on `net`, which is not applied.", "First apply that project: comment `lockstep apply -p net`.")
	e.known = true
	s.say("alice", n, "lockstep plan -p net")
	s.expect("an apply in order", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added", "**Applied** `app`: 2 added")
	s.say("alice", n, "lockstep plan -destroy")
	s.expect("the end", s.status(n), "| ready to apply, to be destroyed after `app` | `net` | 0 to add, 0 to change, 2 to destroy, with -destroy |")
	s.expect("the apply of the end", s.say("alice", n, "lockstep apply"), "**Applied** `app`: 0 added, 0 changed, 2 destroyed", "**Applied** `net`: 0 added, 0 changed, 2 destroyed")
	s.say("alice", n, "lockstep plan -p app")
	s.expect("before what is destroyed", s.say("alice", n, "lockstep apply -p app"), "**Not applied** `app`", "`app` depends on `net`, which is not applied.")
	s.say("alice", n, "lockstep plan -p net")
	s.expect("an apply after the end", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added", "**Applied** `app`: 2 added")
}

// TestRemediesOutOfOrder holds that an apply which is refused for the order and for what is missing names no apply of both: that would leave
// the second out.
func TestRemediesOutOfOrder(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": netProject + "project \"app\" {\n  dir = \"app\"\n  depends_on = [\"net\"]\n}\nrequire \"apply\" {\n  projects = [\"app\"]\n  approvals = 1\n}\n"})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
	lacks := func(what, got string, not ...string) {
		for _, text := range not {
			if strings.Contains(got, text) {
				t.Errorf("%s has %q:\n%s", what, text, got)
			}
		}
	}
	got := s.say("alice", n, "lockstep apply -p app")
	s.expect("alone", got, "First apply that project: comment `lockstep apply -p net`.", "comment `lockstep apply -p app`.")
	lacks("alone", got, "or both in their order")
	got = s.say("alice", n, "lockstep apply")
	s.expect("both", got, "**Applied** `net`", "`app` depends on `net`. The apply of `net` is queued or in progress.", "comment `lockstep apply`.")
	lacks("both", got, "it is applied after that")
	e := &unknowing{Engine: s.pipeline.Engine, project: "net"}
	s.pipeline.Engine = e
	s.repo.Push("alice", "b", "Once more", githubtest.Files{"net/b.tf": resource("b", "2"), "app/b.tf": resource("b", "2")})
	s.repo.Review("bob", n, github.Approved, "")
	s.settle()
	s.expect("a status behind a failure", s.status(n), "First plan the projects that come before. Then, to apply the plan of `app`, comment `lockstep apply`")
	s.expect("a check behind a failure", s.checkOf("b", "lockstep/app").Summary, "First plan `net` again: comment `lockstep plan -p net`. Then comment `lockstep apply`")
	e.known = true
	s.say("alice", n, "lockstep plan -p net -target=terraform_data.a")
	s.expect("a check behind a part", s.checkOf("b", "lockstep/app").Summary, "First plan `net` again: comment `lockstep plan -p net`.")
}
