package dispatch_test

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestDriftOfAnAppliedHead holds that a look at changes from outside leaves an applied head applied: whatever it finds, nothing
// that was merged is left to be applied.
func TestDriftOfAnAppliedHead(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.say("alice", n, "lockstep apply")
	s.expect("the drift", s.say("alice", n, "lockstep drift"), "**Planned** `net`: no changes")
	s.expect("the status", s.status(n), "| up to date | `net` | no changes, with -refresh-only |", "Merge this pull request")
	if got := s.status(n); strings.Contains(got, "leaves out what the pull request changes") {
		t.Errorf("it leaves out nothing:\n%s", got)
	}
	s.headIs("before the merge", "b", "success 1 project up to date")
	before := len(s.repo.Comments(n))
	s.repo.Merge("bob", n)
	s.settle()
	if got := s.repo.Comments(n)[before:]; len(got) > 0 {
		t.Errorf("it was applied, and the merge says:\n%s", got[0].Body)
	}
	s.headIs("after the merge", "b", "success 1 project up to date")
	s.expect("a drift after the merge", s.say("alice", n, "lockstep drift"), "**Planned** `net`: no changes")
	s.headIs("a drift after the merge", "b", "success 1 project up to date")
}

// TestDriftOfAnUnappliedHead holds that it takes the place of a plan that is not applied, which a retry brings back after the merge.
func TestDriftOfAnUnappliedHead(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.say("alice", n, "lockstep drift")
	s.headIs("before the merge", "b", "action_required 1 project partly planned")
	s.repo.Merge("bob", n)
	s.settle()
	s.headIs("after the merge", "b", "action_required 1 project merged, not applied")
	s.say("alice", n, "lockstep drift")
	s.expect("a drift after the merge", s.status(n), "**partly planned**", "comment `lockstep retry`")
	s.expect("a retry", s.say("alice", n, "lockstep retry"), "**Planned** `net`: 2 to add")
}

// TestFailedDriftOfAnAppliedHead holds that an applied head stays applied where a plan with options fails, before the merge and after it:
// nothing that was merged is left to be applied.
func TestFailedDriftOfAnAppliedHead(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"lockstep drift", "lockstep plan -target=terraform_data.a", "lockstep plan -destroy", "lockstep taint terraform_data.a"} {
		for _, apply := range []string{"comment", "merge"} {
			t.Run(apply+", "+command, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject})
				n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
				s.say("alice", n, "lockstep apply")
				if apply == "merge" { // as it is by then
					s.repo.Push("bob", "main", "On merge", githubtest.Files{"lockstep.hcl": strings.Replace(netProject, "\n}", "\n  apply = \"merge\"\n}", 1)})
					s.settle()
				}
				e := &unknowing{Engine: s.pipeline.Engine, project: "net"}
				s.pipeline.Engine = e
				s.expect("the plan", s.say("alice", n, command), "**Failed to plan** `net`.")
				s.expect("the status", s.status(n), "| up to date; the last plan with -", "| `net` | no changes |", " **failed** |", "Invalid count argument", "has changed nothing: the project is as it was before", "Merge this pull request")
				s.headIs("before the merge", "b", "success 1 project up to date")
				s.expect("the project's check", s.check("b"), "lockstep/net: success Up to date; the last plan with -")
				before := len(s.repo.Comments(n))
				s.repo.Merge("bob", n)
				s.settle()
				if got := s.repo.Comments(n)[before:]; len(got) > 0 {
					t.Errorf("it was applied, and the merge says:\n%s", got[0].Body)
				}
				s.headIs("after the merge", "b", "success 1 project up to date")
				s.expect("the same after the merge", s.say("alice", n, command), "**Failed to plan** `net`.")
				s.headIs("the same after the merge", "b", "success 1 project up to date")
				e.known = true
				s.expect("a retry", s.say("alice", n, "lockstep plan"), "**Planned** `net`: no changes")
				s.headIs("at the end", "b", "success 1 project up to date")
			})
		}
	}
}

// TestFailedCommandWithoutChanges holds that a head whose plan has no changes keeps its check where a plan with options fails, that its
// merge looks at it again, and that one whose plan has some keeps that plan.
func TestFailedCommandWithoutChanges(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": netProject})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.say("alice", n, "lockstep apply")
	s.repo.Merge("alice", n)
	s.settle()
	n = s.pull("bob", "words", githubtest.Files{"net/b.tf": "# b\n" + resource("b", "1")})
	s.headIs("the plan", "words", "success 1 project up to date")
	for _, command := range []string{"lockstep import terraform_data.none x", "lockstep plan -target=x.y.z", "lockstep state rm terraform_data.none"} {
		s.expect(command, s.say("bob", n, command), "**Failed to plan** `net`.")
		s.headIs(command, "words", "success 1 project up to date")
	}
	s.expect("an apply", s.say("bob", n, "lockstep apply"), "**Not applied** `net`", "The earlier plan has nothing left to apply.")
	broken := &unknowing{Engine: s.pipeline.Engine, project: "net"}
	s.pipeline.Engine = broken
	s.say("bob", n, "lockstep plan")
	s.headIs("a plan without options", "words", "failure 1 project failed to plan")
	broken.known = true
	s.say("bob", n, "lockstep plan")
	s.say("bob", n, "lockstep import terraform_data.none x")
	s.headIs("again", "words", "success 1 project up to date")
	other := s.pull("alice", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
	s.expect("of a head with changes", s.say("alice", other, "lockstep import terraform_data.none x"), "**Failed to plan** `net`.")
	s.headIs("of a head with changes", "c", "neutral 1 project ready to apply – 1 to add, 0 to change, 0 to destroy")
	s.repo.Merge("bob", n)
	s.settle()
	s.expect("the merge", s.status(n), "| up to date | `net` | no changes |")
	s.headIs("after the merge", "words", "success 1 project up to date")
}

// TestOrderAfterADrift holds that a project that is applied stays so for those that depend on it, whatever a look at changes from outside
// comes to.
func TestOrderAfterADrift(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "app/main.tf": resource("a", "1"), "lockstep.hcl": appLast})
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "app/b.tf": resource("b", "1")})
		s.say("alice", n, "lockstep apply -p net")
		e := &unknowing{Engine: s.pipeline.Engine, project: "net", known: !fails}
		s.pipeline.Engine = e
		s.say("alice", n, "lockstep drift -p net")
		s.expect("the dependent", s.say("alice", n, "lockstep apply -p app"), "**Applied** `app`: 2 added")
	}
}
