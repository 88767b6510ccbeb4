package dispatch_test

import (
	"testing"

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
	s.expect("its status", s.status(n), "terraform_data.b has moved to terraform_data.other", "waits for `lockstep apply`")
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
	s.expect("a plan then", s.say("alice", n, "lockstep plan"), "no changes")
	s.repo.Merge("alice", n)
	s.settle()

	n = s.pull("alice", "forget", githubtest.Files{"net/b.tf": githubtest.Deleted})
	s.expect("the plan", s.status(n), "0 to add, 0 to change, 1 to destroy")
	s.expect("a removal", s.say("alice", n, "lockstep state rm terraform_data.other -p net"), "1 to forget")
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
	s.expect("a plan then", s.say("alice", n, "lockstep plan"), "no changes")

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
	s.expect("for two projects", s.say("alice", n, "lockstep import terraform_data.a x"), "**Not planned**", "changes the state of one project, and this is for 2: `app`, `net`", "`-p NAME`")
	s.expect("without a resource", s.say("alice", n, "lockstep import terraform_data.none x -p net"), "**Not planned**: `net`", "Configuration for import target does not exist")
	s.expect("of what is still there", s.say("alice", n, "lockstep state rm terraform_data.a -p net"), "**Not planned**: `net`", "Removed resource still exists", "lockstep_command.tf:1")
	s.expect("by somebody without rights", s.say("mallory", n, "lockstep state rm terraform_data.a -p net"), "**Not planned**")
	s.repo.Push("alice", "a", "A file of that name", githubtest.Files{"net/lockstep_command.tf": "# mine"})
	s.settle()
	s.expect("beside a file of its name", s.say("alice", n, "lockstep import terraform_data.a x -p net"), "**Not planned**: `net`", "has the name of the one with the blocks of a command: rename it")
}
