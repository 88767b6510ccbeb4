package dispatch_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestStateCommands changes states by comments: each is planned and shown, and made by the apply.
func TestStateCommands(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\n"})
	n := s.pull("alice", "a", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("the first apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
	s.repo.Merge("alice", n)
	s.settle()

	n = s.pull("alice", "import", githubtest.Files{"net/c.tf": "resource \"terraform_data\" \"c\" {\n}\n"})
	s.expect("an import", s.say("alice", n, "lockstep import terraform_data.c the-id"), "1 to import, 0 to add")
	s.expect("its status", s.status(n), "terraform_data.c will be imported", "-import=\"terraform_data.c the-id\"")
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 1 imported")
	s.expect("a plan then", s.say("alice", n, "lockstep plan"), "no changes")
	s.repo.Merge("alice", n)
	s.settle()

	n = s.pull("alice", "move", githubtest.Files{"net/b.tf": resource("other", "1")})
	s.expect("the plan", s.status(n), "1 to add, 0 to change, 1 to destroy")
	s.expect("a move", s.say("alice", n, "lockstep state mv terraform_data.b terraform_data.other"), "no changes")
	s.expect("its status", s.status(n), "terraform_data.b has moved to terraform_data.other", "ready to apply")
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
	s.expect("a plan then", s.say("alice", n, "lockstep plan"), "no changes")
	s.repo.Merge("alice", n)
	s.settle()

	n = s.pull("alice", "forget", githubtest.Files{"net/b.tf": githubtest.Deleted, "net/c.tf": githubtest.Deleted})
	s.expect("the plan", s.status(n), "0 to add, 0 to change, 2 to destroy")
	s.expect("a removal", s.say("alice", n, "lockstep state rm terraform_data.other terraform_data.c -p net"), "0 to destroy, 2 to forget")
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
	s.expect("a plan then", s.say("alice", n, "lockstep plan"), "no changes")

	s.expect("a look at what has changed outside", s.say("alice", n, "lockstep drift -p net"), "**Planned** `net`: no changes")
	s.expect("its status", s.status(n), "with -refresh-only")
	s.expect("a replacement", s.say("alice", n, "lockstep taint terraform_data.a"), "1 to add, 0 to change, 1 to destroy")
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 1 added, 0 changed, 1 destroyed")
}

// TestStateCommandsThatCannotBe holds that a change of the state that is none is told of by the plan, and changes nothing.
func TestStateCommandsThatCannotBe(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{
		"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"),
		"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\nproject \"app\" {\n  dir = \"app\"\n}\n",
	})
	n := s.pull("alice", "a", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
	s.expect("for two projects", s.say("alice", n, "lockstep import terraform_data.a x"), "**Not planned**", "needs one project, but matches 2: `app`, `net`", "`-p NAME`")
	s.expect("without a resource", s.say("alice", n, "lockstep import terraform_data.none x -p net"), "**Failed to plan** `net`.", "Configuration for import target does not exist")
	s.expect("of what is still there", s.say("alice", n, "lockstep state rm terraform_data.a -p net"), "**Failed to plan** `net`.", "Removed resource still exists", "lockstep_command.tf:1")
	s.expect("by somebody without rights", s.say("mallory", n, "lockstep state rm terraform_data.a -p net"), "**Not planned**")
	s.repo.Push("alice", "a", "A file of that name", githubtest.Files{"net/lockstep_command.tf": "# mine"})
	s.settle()
	s.expect("beside a file of its name", s.say("alice", n, "lockstep import terraform_data.a x -p net"), "**Failed to plan** `net`.", "is reserved for commands in comments: rename it")
}

// TestPointlessStateCommands holds that a command about an object that the state does not have, or has already, is no plan of
// something else: it fails. The plan from before stays.
func TestPointlessStateCommands(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject})
	n := s.pull("alice", "a", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("the first apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
	s.repo.Merge("alice", n)
	s.settle()

	n = s.pull("alice", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
	for c, why := range map[string]string{
		"import terraform_data.a x":                        "The state has an object of terraform_data.a, so there is nothing to import.",
		"state mv terraform_data.nothere terraform_data.z": "The state has no object of terraform_data.nothere, so there is nothing to move.",
		"state mv terraform_data.nothere terraform_data.c": "The state has no object of terraform_data.nothere, so there is nothing to move.",
		"state mv module.x module.y":                       "The state has no object of module.x, so there is nothing to move.",
		"state mv terraform_data.a[0] terraform_data.z":    "The state has no object of terraform_data.a[0], so there is nothing to move.",
		"state rm terraform_data.nothere":                  "The state has no object of terraform_data.nothere, so there is nothing to remove.",
		"state rm module.x":                                "The state has no object of module.x, so there is nothing to remove.",
		"taint terraform_data.nothere":                     "The option -replace=terraform_data.nothere matches nothing in the configuration or the state",
		"taint terraform_data.c":                           "The state has no object of terraform_data.c, so there is nothing to taint.",
		"plan -p net -forget=terraform_data.nothere":       "nothing to remove.",
	} {
		s.expect(c, strings.Join(strings.Fields(s.say("alice", n, "lockstep "+c)), " "), "**Failed to plan** `net`.", why)
		s.expect(c, s.check("c"), "success")
	}
	s.expect("a replacement of what is not there", s.say("alice", n, "lockstep plan -replace=terraform_data.nothere"), "**Failed to plan** `net`.", "Address matches nothing")

	s.repo.Push("alice", "c", "Move", githubtest.Files{"net/b.tf": resource("z", "1") + "moved {\n  from = terraform_data.b\n  to   = terraform_data.y\n}\n"})
	s.settle()
	s.expect("what the configuration moves", s.say("alice", n, "lockstep state mv terraform_data.y terraform_data.z"), "**Planned** `net`: 1 to add, 0 to change, 0 to destroy")
}

// TestRestOfStateCommands holds that an apply with a change of the state that fails after it can be made again: what is done is no
// error.
func TestRestOfStateCommands(t *testing.T) {
	t.Parallel()
	for c, files := range map[string]githubtest.Files{
		"import terraform_data.c x":                  {"net/c.tf": "resource \"terraform_data\" \"c\" {\n}\n"},
		"state mv terraform_data.b terraform_data.z": {"net/b.tf": resource("z", "1")},
		"state rm terraform_data.b":                  {"net/b.tf": githubtest.Deleted},
	} {
		t.Run(c, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject})
			n := s.pull("alice", "a", githubtest.Files{"net/b.tf": resource("b", "1")})
			s.expect("the first apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
			s.repo.Merge("alice", n)
			s.settle()
			n = s.pull("alice", "c", files)
			s.expect("the plan", s.say("alice", n, "lockstep "+c), "**Planned** `net`")
			engine := s.pipeline.Engine
			s.pipeline.Engine = halfway{engine}
			s.say("alice", n, "lockstep apply")
			s.pipeline.Engine = engine
			s.expect("the rest", s.say("alice", n, "lockstep retry"), "**Planned** `net`: no changes")
			s.expect("once more", s.say("alice", n, "lockstep "+c), "**Failed to plan** `net`.", "The state has")
		})
	}
}

// TestUntaint keeps an object that is marked to be replaced: planned without the replacement, and stored by the apply.
func TestUntaint(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\n"})
	n := s.pull("alice", "a", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("the first apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 2 added")
	file := filepath.Join(executor.LocalState(s.data.States, s.repo.Repo().ID, "net", "default"), "terraform.tfstate")
	state := func() string {
		t.Helper()
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	marked := strings.Replace(state(), "\"schema_version\": 0,", "\"status\": \"tainted\",\n          \"schema_version\": 0,", 1)
	if err := os.WriteFile(file, []byte(marked), 0o600); err != nil || !strings.Contains(marked, "tainted") {
		t.Fatal(err, marked)
	}
	s.expect("a plan", s.say("alice", n, "lockstep plan"), "1 to add, 0 to change, 1 to destroy")
	s.expect("of one that is not tainted", s.say("alice", n, "lockstep untaint terraform_data.b"), "**Failed to plan** `net`.", "The state has no tainted object of terraform_data.b")
	s.expect("of one that is not there", s.say("alice", n, "lockstep untaint terraform_data.c"), "**Failed to plan** `net`.")
	s.expect("of the one that is", s.say("alice", n, "lockstep untaint terraform_data.a"), "**Planned** `net`: no changes")
	if !strings.Contains(state(), "tainted") {
		t.Error("the plan has written the state")
	}
	s.expect("the status", s.status(n), "ready to apply", "-untaint=terraform_data.a")
	// Somebody writes the same state meanwhile, so that the plan is made again.
	serial := regexp.MustCompile(`"serial": ([0-9]+),`)
	if err := os.WriteFile(file, []byte(serial.ReplaceAllString(state(), `"serial": ${1}9,`)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 0 added, 0 changed, 0 destroyed")
	if strings.Contains(state(), "tainted") {
		t.Error("the mark is still there")
	}
	s.expect("a plan then", s.say("alice", n, "lockstep plan"), "no changes")
}
