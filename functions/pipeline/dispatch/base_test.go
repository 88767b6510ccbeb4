package dispatch_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// generous is a lockstep.hcl that grants everything.
const generous = "project \"net\" {\n  dir = \"net\"\n}\nallow {\n  provisioners = true\n  external = true\n  providers = [\"*/*/*\"]\n}\n"

// TestOwnBase holds that nobody grants themselves rights with a branch of their own that
// the pull request goes into, and that the default branch can name such branches.
func TestOwnBase(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMerge())
	mark := t.TempDir() + "/ran"
	s.repo.Push("alice", "mine", "My rights", githubtest.Files{"lockstep.hcl": generous})
	s.repo.Push("alice", "b", "B", githubtest.Files{
		"lockstep.hcl": generous,
		"net/b.tf":     "resource \"terraform_data\" \"x\" {\n  provisioner \"local-exec\" {\n    command = \"touch " + mark + "\"\n  }\n}\n",
	})
	n := s.repo.OpenPull("alice", "B", "b")
	s.repo.Retarget("alice", n, "mine")
	s.settle()
	const no, remedy = "The pull request goes into `mine`", "on `main`: `branches = [\"mine\"]`"
	s.expect("the status", s.status(n), "Nothing is planned", no, remedy)
	s.expect("its plan", s.say("alice", n, "lockstep plan"), "**Not planned**", no, remedy)
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Not applied**", no)
	if got := s.check("b"); got != "head lockstep: action_required Nothing is planned\n" {
		t.Errorf("something was planned:\n%s", got)
	}

	s.repo.Push("bob", "main", "Trust", githubtest.Files{"lockstep.hcl": onMerge()["lockstep.hcl"] + "allow {\n  branches = [\"mi*\"]\n}\n"})
	s.expect("a plan into a branch that is named", s.say("alice", n, "lockstep plan"), "**Planned** `net`")
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`")
}

// TestPlannedThenRetargeted holds that a plan with the default branch's rights is not
// applied once the pull request goes elsewhere, by a comment or by the merge.
func TestPlannedThenRetargeted(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMerge())
	s.repo.Push("alice", "mine", "My rights", githubtest.Files{"lockstep.hcl": generous})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("the status", s.status(n), "applies on merge")
	s.repo.Retarget("alice", n, "mine")
	s.settle()
	s.expect("an apply by comment", s.say("alice", n, "lockstep apply"), "**Not applied**", "The pull request goes into `mine`")
	s.repo.Merge("alice", n)
	s.settle()
	if got := s.answer(n, "merge"); got != "" {
		t.Errorf("the answer to the merge is %s", got)
	}
	if r := s.run(n); r.Phase != runs.Dropped || r.Asked.Try > 0 {
		t.Errorf("%+v", r)
	}
}

// TestAppliedThenRetargeted holds that nobody is told to merge what was applied into a branch whose pull requests are not planned, and
// that what is merged there is not to go elsewhere.
func TestAppliedThenRetargeted(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.repo.Push("bob", "dev", "Dev", nil)
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.say("alice", n, "lockstep apply")
	s.repo.Retarget("alice", n, "dev")
	s.settle()
	for name, text := range map[string]string{"the status": s.status(n), "the check": s.checkOf("b", "lockstep").Summary} {
		s.expect(name, text, "applied by `alice`", "Do not merge it into this branch", "Change the base of the pull request to `main`")
		if strings.Contains(text, "Merge this pull request, so that") {
			t.Errorf("%s asks for the merge:\n%s", name, text)
		}
	}
	s.repo.Merge("alice", n)
	s.settle()
	s.expect("the answer", s.answer(n, "merge"), "**Applied, merged elsewhere**")
	for name, text := range map[string]string{"the status": s.status(n), "the check": s.checkOf("b", "lockstep").Summary} {
		s.expect(name, text, "applied by `alice`", "it was merged into `dev`")
		if strings.Contains(text, "Change the base of the pull request to") {
			t.Errorf("%s of the merge wants it to go elsewhere:\n%s", name, text)
		}
	}
}

// TestStopRetargeted holds that an apply can be stopped whose pull request goes elsewhere since: that grants nothing.
func TestStopRetargeted(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.repo.Push("bob", "dev", "Dev", nil)
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	id, stranger := int64(0), int64(0)
	s.pipeline.Engine = whileApplying{s.pipeline.Engine, func() {
		s.repo.Retarget("alice", n, "dev")
		stranger = s.command("mallory", n, "lockstep stop")
		id = s.command("alice", n, "lockstep stop")
	}}
	s.say("alice", n, "lockstep apply")
	s.expect("its stop by a reader", s.answerTo(n, stranger), "**Not cancelled**", "has the permission `read`")
	s.expect("its stop", s.answerTo(n, id), "**Cancelling** the apply of `.`, as `alice` requested")
}

// TestRetargetedWhileQueued holds that a queued apply whose pull request goes elsewhere leaves no plan that waits for another one.
func TestRetargetedWhileQueued(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.repo.Push("bob", "dev", "Dev", nil)
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	m, _ := s.toApply("alice", n)
	s.repo.Retarget("alice", n, "dev")
	s.hub.Deliver(t.Context())
	s.settleBut(pipeline.ToApply)
	if err := s.pipeline.Handle(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	s.settle()
	if got := s.status(n); strings.Contains(got, "lockstep apply") {
		t.Errorf("its plan is to be applied:\n%s", got)
	}
	if got := s.check("b"); !strings.Contains(got, "lockstep/.: cancelled Plan dropped, not applied") {
		t.Errorf("the check is %s", got)
	}
	s.repo.Retarget("alice", n, "main")
	s.settle()
	s.expect("back again", s.say("alice", n, "lockstep apply"), "**Applied** `.`")
}

// TestLockRetargeted holds that the lock of a person ends once the pull request goes elsewhere, as it would with its close; and that
// an unlock there needs what the default branch requires, whatever is in the other one.
func TestLockRetargeted(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} {
		s := newStage(t, requiring("unlock", "  by = [\"bob\"]"))
		s.repo.Push("alice", "mine", "My rights", githubtest.Files{"lockstep.hcl": generous})
		n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
		o := s.pull("bob", "o", githubtest.Files{"net/o.tf": resource("o", "1")})
		s.expect("the lock", s.say("alice", n, "lockstep lock --reason mine"), "**Locked** `net`")
		if lost {
			s.hub.LoseDeliveries(1)
		}
		s.repo.Retarget("alice", n, "mine")
		s.settle()
		if got := s.status(o); strings.Contains(got, "**locked by #1**") != lost {
			t.Errorf("lost %v:\n%s", lost, got)
		}
		s.expect("an unlock by alice", s.say("alice", n, "lockstep unlock"), "**Not unlocked** `net`", "a request by `bob`")
		unlocked := "This pull request has **no lock** on `net`."
		if lost {
			unlocked = "**Unlocked** `net` for other pull requests. `alice` had locked it:"
		}
		s.expect("an unlock by bob", s.say("bob", n, "lockstep unlock"), unlocked)
		s.expect("the apply of the other one", s.say("bob", o, "lockstep apply"), "**Applied** `net`")
	}
}

// turning is a hub where the pull request goes elsewhere between two looks, and back.
type turning struct {
	dispatch.GitHub
	base string
}

func (h turning) PullRequest(ctx context.Context, n int) (github.PullRequest, error) {
	p, err := h.GitHub.PullRequest(ctx, n)
	p.Base.Ref = h.base
	return p, err
}

// TestRetargetedInBetween holds that it is the trial merge's own branch that is asked
// about.
func TestRetargetedInBetween(t *testing.T) {
	t.Parallel()
	s := newStage(t, onMerge())
	connect := s.pipeline.Connect
	s.pipeline.Connect = func(p pipeline.Pull) (dispatch.GitHub, error) {
		hub, err := connect(p)
		return turning{hub, "main"}, err
	}
	s.repo.Push("alice", "mine", "My rights", githubtest.Files{"lockstep.hcl": generous})
	s.repo.Push("alice", "b", "B", githubtest.Files{"net/b.tf": resource("b", "1")})
	n := s.repo.OpenPull("alice", "B", "b")
	s.repo.Retarget("alice", n, "mine")
	s.settle()
	got := s.say("alice", n, "lockstep plan")
	s.expect("its plan", got, "**Not planned**", "The pull request goes into `mine`")
	if strings.Contains(got, "**Planned**") {
		t.Errorf("it was planned:\n%s", got)
	}
}

// TestRetargetedToAnotherAllowedBranch holds that a pull request which goes into another
// branch, one that the default branch names, is planned anew against that one.
func TestRetargetedToAnotherAllowedBranch(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1"), "lockstep.hcl": "allow {\n  branches = [\"rel*\"]\n}\n"})
	s.repo.Push("bob", "release", "More", githubtest.Files{"more.tf": resource("c", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.expect("the status", s.status(n), "2 to add")
	s.repo.Retarget("alice", n, "release")
	s.settle()
	s.expect("the new status", s.status(n), "3 to add")
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `.`: 3 added")
}

// TestAppliedAndMergedElsewhere holds that people are told when what was applied is merged into a branch that is not planned:
// the next plan of the default branch undoes it.
func TestAppliedAndMergedElsewhere(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.repo.Push("alice", "release", "Release", githubtest.Files{"README.md": "1"})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `.`: 2 added")
	s.repo.Retarget("alice", n, "release")
	s.settle()
	s.repo.Merge("bob", n)
	s.settle()
	s.expect("the answer to the merge", s.answer(n, "merge"), "**Applied, merged elsewhere**", ", and the pull request was merged into `release`.")
	m := s.pull("bob", "c", githubtest.Files{"c.tf": resource("c", "1")})
	s.expect("the next plan", s.status(m), "1 to add, 0 to change, 1 to destroy")
}
