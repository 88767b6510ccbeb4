package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// head is the check of the head of a branch: its conclusion, or its status, and its title.
func (s *stage) headOf(branch string) string {
	s.t.Helper()
	c := s.checkOf(branch, "lockstep")
	end := string(c.Conclusion)
	if end == "" {
		end = string(c.Status)
	}
	return end + " " + c.Title
}

// headIs holds that the check of a head is one.
func (s *stage) headIs(when, branch, want string) {
	s.t.Helper()
	if got := s.headOf(branch); !strings.HasPrefix(got, want) {
		s.t.Errorf("%s: the check is %q, want %q", when, got, want)
	}
}

// enforcing are the settings of a base branch that wants plans to be applied before the merge.
const enforcing = "check {\n  waiting = \"action_required\"\n}\n"

// TestRequiredCheck tells the story of the check that a branch rule can require: each head has it,
// and it passes when there is nothing left to do.
func TestRequiredCheck(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"lockstep.hcl": enforcing, "net/main.tf": resource("a", "1"), "README.md": "hello\n"})
	s.strict = true
	words := s.pull("alice", "words", githubtest.Files{"README.md": "hello, world\n"})
	s.headIs("documents only", "words", "success No project is affected")
	if got := s.repo.Comments(words); len(got) != 0 {
		t.Errorf("a pull request that touches no project: %v", got)
	}
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.headIs("planned", "b", "action_required 1 project ready to apply – 2 to add")
	s.expect("its page", s.checkOf("b", "lockstep").Summary, "| `net` | 2 to add", "passes once they are", "comment `lockstep apply`")
	s.say("alice", n, "lockstep apply")
	s.headIs("applied", "b", "success 1 project applied – 2 added")
	s.repo.Push("alice", "b", "Broken", githubtest.Files{"net/b.tf": "resource {\n"})
	s.settle()
	s.headIs("broken", "b", "failure 1 project failed to plan")
	s.repo.Push("alice", "b", "Documents only", githubtest.Files{"net/b.tf": githubtest.Deleted, "README.md": "bye\n"})
	s.settle()
	s.headIs("touching nothing any more", "b", "action_required 1 project ready to apply – 0 to add, 0 to change, 1 to destroy")
	if got := s.status(n); strings.Contains(got, "resource {") {
		t.Errorf("the comment is that of another head:\n%s", got)
	}
	s.say("alice", n, "lockstep apply")
	s.headIs("undone", "b", "success 1 project applied – 0 added, 0 changed, 1 destroyed")
	s.repo.Merge("alice", n)
	s.settle()
	s.headIs("merged", "b", "success 1 project applied")
}

// TestSettingOfTheBase carries out an attack: a pull request changes what its own check needs to
// pass. It holds that the base branch decides.
func TestSettingOfTheBase(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"lockstep.hcl": enforcing, "net/main.tf": resource("a", "1")})
	s.pull("alice", "b", githubtest.Files{"lockstep.hcl": "check {\n  waiting = \"neutral\"\n}\n", "net/b.tf": resource("b", "1")})
	s.headIs("its own setting", "b", "action_required 1 project ready to apply")
}

// TestSettingAsItIsNow holds that a setting which the base branch gets later is that of open pull requests, from their next event
// on: a branch rule that requires the check holds them then.
func TestSettingAsItIsNow(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]func(*stage, int){
		"a comment": func(s *stage, n int) { s.say("bob", n, "lockstep help") },
		"a review":  func(s *stage, n int) { s.repo.Review("bob", n, github.Approved, "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1")})
			n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
			s.headIs("before", "b", "neutral 1 project ready to apply")
			s.repo.Push("bob", "main", "Stricter", githubtest.Files{"lockstep.hcl": enforcing})
			event(s, n)
			s.settle()
			s.headIs("since", "b", "action_required 1 project ready to apply")
			s.expect("its page", s.checkOf("b", "lockstep").Summary, "This check passes once they are applied")
			s.repo.Push("bob", "main", "As before", githubtest.Files{"lockstep.hcl": githubtest.Deleted})
			event(s, n)
			s.settle()
			s.headIs("and back", "b", "neutral 1 project ready to apply")
		})
	}
}

// TestPendingFromTheStart holds that a new head has its check before its projects are known, that
// the check of the old head is ended at once, and that neither is lost where nobody comes to look.
func TestPendingFromTheStart(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	old := s.repo.Head("b")
	s.repo.ForcePush("alice", "b", "B", githubtest.Files{"net/c.tf": resource("c", "1")})
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	projects := s.pipeline.Projects
	s.pipeline.Projects = blind{}
	failed := 0
	s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
		err := s.pipeline.Handle(ctx, m)
		if err != nil && failed == 0 {
			s.headIs("before anything is known", "b", "queued Looking for the projects")
			for _, c := range s.repo.Checks(old) {
				if c.Name == "lockstep" && c.Conclusion != "cancelled" {
					t.Errorf("the old head's check: %+v", c)
				}
			}
		}
		if err != nil {
			failed++
		}
		return err
	})
	if failed == 0 {
		t.Error("nothing has failed")
	}
	s.headIs("given up", "b", "failure Failed: Lockstep could not read this commit")
	s.expect("its page", s.checkOf("b", "lockstep").Summary, "comment `lockstep plan`", "**Lockstep failed internally**: handle 4b1744ed3a4ab8fda1b4d26ce83a03ad: the disk is full.")
	s.pipeline.Projects = projects
	s.expect("a plan", s.say("alice", n, "lockstep plan"), "**Planned** `net`")
	s.headIs("looked at", "b", "neutral 1 project ready to apply")
}

// TestAnotherPullRequestTurnsNothingGreen carries out an attack: a second pull request with the same
// head, into a branch where it touches no project, or which is closed again, or never looked at.
func TestAnotherPullRequestTurnsNothingGreen(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "allow {\n  branches = [\"rel*\"]\n}\n" + enforcing})
	// The release branch has settings of its own: there nothing is a project.
	s.repo.Push("bob", "release", "Release", githubtest.Files{"lockstep.hcl": "exclude = [\"**\"]\n"})
	one := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "README.md": "x\n"})
	const waits = "action_required 1 project ready to apply"
	s.headIs("alone", "b", waits)
	two := s.repo.OpenPull("mallory", "Into the release", "b")
	s.repo.Retarget("mallory", two, "release")
	s.settle()
	s.headIs("beside another", "b", "action_required #1: 1 project ready to apply")
	s.expect("the page", s.checkOf("b", "lockstep").Summary, "### #1: 1 project ready to apply", "### #2: No project is affected")
	s.repo.Review("bob", two, "approved", "Fine.") // the other one is told again
	s.settle()
	s.headIs("told again", "b", "action_required #1: 1 project ready to apply")
	s.repo.Close("mallory", two)
	s.settle()
	s.headIs("alone again", "b", waits)

	// The other way round: the pull request is closed, the other one is green, and it is reopened.
	s.repo.Close("alice", one)
	s.repo.Reopen("mallory", two)
	s.settle()
	s.headIs("the other one alone", "b", "success No project is affected")
	s.repo.Reopen("alice", one)
	s.settle()
	s.headIs("reopened", "b", "action_required #1: 1 project ready to apply")
}

// TestMergedElsewhereHoldsNothing tells the story of a commit that is merged into a release branch without an apply, and is to be
// merged into the default branch, too: what is left of the former pull request does not keep the latter out, whichever check
// run is the newest.
func TestMergedElsewhereHoldsNothing(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\nallow {\n  branches = [\"release\"]\n}\n" + enforcing})
		s.repo.Push("bob", "release", "Release", githubtest.Files{"doc.md": "words\n"})
		s.repo.Push("alice", "b", "B", githubtest.Files{"net/b.tf": resource("b", "1")})
		var into int
		open := func() { into = s.repo.OpenPull("alice", "B", "b"); s.settle() }
		if after {
			open()
		}
		elsewhere := s.repo.OpenPull("alice", "Into the release", "b")
		s.repo.Retarget("alice", elsewhere, "release")
		s.settle()
		s.repo.Merge("alice", elsewhere)
		s.settle()
		if !after {
			s.headIs("merged, and alone", "b", "action_required 1 project merged, not applied")
			open()
		}
		s.expect("while it waits", s.headOf("b"), fmt.Sprintf("action_required #%d: 1 project ready to apply", into))
		s.say("alice", into, "lockstep apply")
		s.expect("once it is applied", s.headOf("b"), fmt.Sprintf("success #%d: 1 project applied", into))
		s.expect("the page", s.checkOf("b", "lockstep").Summary, fmt.Sprintf("### #%d: 1 project merged, not applied", elsewhere))
		for _, c := range s.repo.Checks(s.repo.Head("b")) {
			if c.Conclusion != "success" {
				t.Errorf("the check %s is %s: %s", c.Name, c.Conclusion, c.Title)
			}
		}
		s.expect("the checks", s.pages("b"), fmt.Sprintf("Merged, not applied (success on #%d)", into),
			fmt.Sprintf("This pull request is merged. An open pull request has the same commit: **success on #%d**.", into))
	}
}

// TestReopenedIsLookedAt carries out an attack: a pull request is closed and reopened, and
// something has its comments told before the webhook comes. It holds that its check does not pass
// for the lack of plans, and that the janitor comes where the webhook does not.
func TestReopenedIsLookedAt(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": enforcing})
	s.round(reconcile.Found{})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.repo.Close("alice", n)
	s.settle()
	s.headIs("closed", "b", "cancelled Closed")
	s.hub.LoseDeliveries(1)
	s.repo.Reopen("alice", n)
	s.settle()
	s.repo.Review("bob", n, "approved", "Fine.")
	s.settle()
	s.headIs("reopened", "b", "queued Looking for the projects")
	s.hub.LoseDeliveries(0)
	s.round(reconcile.Found{Deliveries: 1, Heads: 1})
	s.headIs("looked at", "b", "action_required 1 project ready to apply")
}

// TestAskedBeforeThePush is the story of a history (seed 70000375): the event of a new pull request came to nobody, and a comment
// has one of its projects planned. It holds that the janitor has the other one planned, and that the check does not pass before.
func TestAskedBeforeThePush(t *testing.T) {
	t.Parallel()
	s := newStage(t, twoProjects)
	s.round(reconcile.Found{})
	n := s.pull("alice", "b", nil)
	s.repo.Push("alice", "b", "More", githubtest.Files{"app/b.tf": resource("b", "1"), "db/b.tf": resource("b", "1")})
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.drain(t.Context(), func(context.Context, pipeline.Message) error { return nil })
	s.expect("the plan", s.say("alice", n, "lockstep plan -p app"), "**Planned** `app`")
	s.expect("its apply", s.say("alice", n, "lockstep apply -p app"), "**Applied** `app`")
	s.headIs("applied in part", "b", "queued Looking for the projects")
	s.round(reconcile.Found{Heads: 1})
	s.headIs("looked at", "b", "neutral 1 project ready to apply, 1 applied")
	s.round(reconcile.Found{})
}

// TestRetargetedIsLookedAt holds the same of a pull request that passes for one base branch and is
// sent into another one.
func TestRetargetedIsLookedAt(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "lockstep.hcl": "allow {\n  branches = [\"rel*\"]\n}\n"})
	s.repo.Push("bob", "release", "Release", githubtest.Files{"lockstep.hcl": "exclude = [\"**\"]\n"})
	s.round(reconcile.Found{})
	s.repo.Push("mallory", "b", "B", githubtest.Files{"net/b.tf": "resource {\n"})
	n := s.repo.OpenPull("mallory", "Into the release", "b")
	s.repo.Retarget("mallory", n, "release")
	s.settle()
	s.headIs("into a branch without projects", "b", "success No project is affected")
	s.hub.LoseDeliveries(1)
	s.repo.Retarget("mallory", n, "main")
	s.settle()
	s.repo.Review("bob", n, "approved", "Fine.")
	s.settle()
	s.headIs("retargeted", "b", "queued Looking for the projects")
	s.hub.LoseDeliveries(0)
	s.round(reconcile.Found{Deliveries: 1, Heads: 1})
	s.headIs("looked at", "b", "failure 1 project failed to plan")
}

// TestForkPassesNot holds that a fork's pull request, which nobody plans, does not pass, and that
// its commits pass once a branch of the repository has them.
func TestForkPassesNot(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1")})
	fork := s.repo.Fork("mallory")
	fork.Push("mallory", "theirs", "Theirs", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.repo.OpenPullFrom(fork, "mallory", "Theirs", "theirs")
	s.settle()
	head := fork.Head("theirs")
	for _, c := range s.repo.Checks(head) {
		if c.Name != "lockstep" || c.Conclusion != "action_required" {
			t.Errorf("%s: %s", c.Name, c.Conclusion)
		}
		s.expect("the page", c.Summary, "comes from a fork", "push them to a branch of this repository")
	}
	if got := len(s.repo.Checks(head)); got != 1 {
		t.Errorf("%d checks", got)
	}
}

// blind is a reader of checkouts that reads none.
type blind struct{ jobs.Projects }

func (blind) Discover(context.Context, string) (jobs.Discovered, error) {
	return jobs.Discovered{}, errors.New("the disk is full")
}
