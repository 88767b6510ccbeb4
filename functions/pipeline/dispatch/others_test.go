package dispatch_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// obeying is an allow block that has commands of other programs carried out.
const obeying = "allow {\n  commands = [\"atlantis\", \"digger\", \"terraform\", \"tofu\"]\n}\n"

// TestCommandsOfOthers holds that commands for other programs are carried out where the base branch says so, and only the
// whole ones; and that it is told as which command of ours each was read.
func TestCommandsOfOthers(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject + obeying})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	for _, program := range []string{"atlantis", "digger", "terraform", "tofu"} {
		s.expect(program, s.say("alice", n, program+" plan"), "Lockstep read `"+program+" plan` as `lockstep plan`.", "**Planned** `net`")
	}
	for line, want := range map[string]string{
		"atlantis plan -d net -- -var-file=x.tfvars": "**nothing was done**",
		"atlantis apply -p net -p app":               "**nothing was done**. In Lockstep, comment `lockstep apply -p net`",
		"terraform apply -target=terraform_data.b":   "**nothing was done**",
		"terraform destroy":                          "**nothing was done**. In Lockstep, comment `lockstep plan -destroy`",
		"atlantis aply":                              "**nothing was done**. In Lockstep, comment `lockstep apply`",
		"atlantis override --reason \"it burns\"":    "**nothing was done**",
	} {
		s.expect(line, s.say("alice", n, line), want)
	}
	s.expect("somebody without rights", s.say("mallory", n, "atlantis apply"), "as `lockstep apply`", "**Not applied**", "the command needs `write`")
	answer := s.say("alice", n, "Atlantis plan -p net\natlantis apply -p net")
	s.expect("a plan and its apply", answer, "Lockstep read `Atlantis plan -p net` as `lockstep plan -p net`", "Lockstep read `atlantis apply -p net` as `lockstep apply -p net`", "**Not applied** `net`", "you have not seen the plan")
	s.expect("its apply", s.say("alice", n, "atlantis apply -p net"), "**Applied** `net`")
}

// TestCommandsOfOthersByTheBase holds that the base branch decides whether they are, and the pull request does not.
func TestCommandsOfOthersByTheBase(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "lockstep.hcl": netProject + obeying})
	s.expect("by the pull request", s.say("alice", n, "atlantis apply"), "**nothing was done**. In Lockstep, comment `lockstep apply`")
	s.repo.Push("bob", "main", "Obey", githubtest.Files{"lockstep.hcl": netProject + strings.Replace(obeying, "\"atlantis\", ", "", 1)})
	s.settle()
	s.expect("one that is not named", s.say("alice", n, "atlantis apply"), "**nothing was done**")
	s.expect("one that is", s.say("alice", n, "digger unlock"), "Lockstep read `digger unlock` as `lockstep unlock`")
	s.expect("with an option of habit", s.say("alice", n, "digger plan -p net --verbose"), "Lockstep read `digger plan -p net --verbose` as `lockstep plan -p net`")
	s.expect("with one that means more", s.say("alice", n, "digger apply -p net --auto-merge-disabled"), "**nothing was done**")
	s.repo.Push("bob", "free", "A branch of anybody", githubtest.Files{"lockstep.hcl": netProject + obeying})
	s.repo.Push("bob", "c", "Change", githubtest.Files{"net/c.tf": resource("c", "1")})
	m := s.repo.OpenPull("bob", "Into a branch of anybody", "c")
	s.repo.Retarget("bob", m, "free")
	s.settle()
	s.expect("a base that nobody has named", s.say("bob", m, "digger unlock"), "**nothing was done**")
}

// TestCommandsLeftToOthers holds that a base branch may leave commands to the program that they are for: none is carried out,
// answered or acknowledged, and one of ours beside them is carried out alone.
func TestCommandsLeftToOthers(t *testing.T) {
	t.Parallel()
	const leaving = "ignore_commands = [\"atlantis\"]\n"
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject + leaving})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	for _, line := range []string{"atlantis plan", "atlantis apply -p net", "atlantis aply", "Atlantis help", "atlantis plan\natlantis apply"} {
		if said := s.say("alice", n, line); said != "" {
			t.Errorf("%q is answered: %s", line, said)
		}
	}
	if said := strings.Join(s.hub.Lines(), "\n"); strings.Contains(said, "reaction") {
		t.Errorf("a command that is left to Atlantis is acknowledged: %s", said)
	}
	s.expect("beside one of ours", s.say("alice", n, "atlantis apply\nlockstep plan"), "**Planned** `net`")
	s.expect("another program", s.say("alice", n, "digger plan"), "**nothing was done**")
	s.repo.Push("bob", "main", "Both no more", githubtest.Files{"lockstep.hcl": netProject})
	s.settle()
	s.expect("once they are not left to it", s.say("alice", n, "atlantis plan"), "**nothing was done**. In Lockstep, comment `lockstep plan`")
}

// TestProgramsAreKnown holds that the settings and the grammar know the same programs.
func TestProgramsAreKnown(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"atlantis", "digger", "terraform", "tofu"} {
		if !slices.ContainsFunc(grammar.Parse(program+" plan"), func(l grammar.Line) bool { return l.Problem.Word == program }) {
			t.Errorf("%s is not read", program)
		}
	}
}

// TestCommandsOfOthersElsewhere holds that a command which another deployment alone carries out is told as read by that one.
func TestCommandsOfOthersElsewhere(t *testing.T) {
	t.Parallel()
	a, b := newDivided(t, divided+obeying)
	n := open(a, b, "c", githubtest.Files{"net/x.tf": resource("x", "1")})
	first, second := answers(a, b, n, "atlantis unlock")
	if first != "" {
		t.Errorf("the deployment without the project says %q", first)
	}
	a.expect("the other", second, "Lockstep read `atlantis unlock` as `lockstep unlock`", "This pull request has **no lock** on `net`.")
}
