package dispatch_test

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

const reviewed = "version: 3\nprojects:\n- name: net\n  dir: net\n  apply_requirements: [approved]\n  depends_on: [gone]\n"

// TestAtlantisOfTheBase holds that requirements of an atlantis.yaml are the base branch's: none of the
// ways to another file, or to another text of it, evades them. What has no meaning here is named once, and
// mistakes have their line.
func TestAtlantisOfTheBase(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": resource("a", "1"), "atlantis.yaml": reviewed})
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.expect("the status", s.status(n), "**needs approval**", "`depends_on gone` (line 6): No project of the file has this name")
	if got := strings.Count(s.status(n), "depends_on gone"); got != 1 {
		t.Errorf("the comment names it %d times", got)
	}
	const missing = "**not met**: an approval"
	for _, x := range []struct {
		what  string
		files githubtest.Files
	}{
		{"without the requirement", githubtest.Files{"atlantis.yaml": strings.Replace(reviewed, "  apply_requirements: [approved]\n", "", 1)}},
		{"with a lockstep.hcl", githubtest.Files{"lockstep.hcl": "project \"net\" {\n  dir = \"net\"\n}\n"}},
		{"with neither file", githubtest.Files{"lockstep.hcl": githubtest.Deleted, "atlantis.yaml": githubtest.Deleted}},
	} {
		s.repo.Push("alice", "b", x.what, x.files)
		s.settle()
		s.expect(x.what, s.say("alice", n, "lockstep apply"), "**Not applied** `net`", missing)
	}
	s.repo.Push("alice", "b", "As it was", githubtest.Files{"lockstep.hcl": githubtest.Deleted})
	s.settle()
	s.expect("the status", s.status(1), "Requirements for the apply, from `atlantis.yaml` on the base branch:")
	s.expect("the refusal", s.say("alice", 1, "lockstep apply"), "**Needs approval** (`atlantis.yaml` on the base branch)")
	s.repo.Push("alice", "b", "Broken", githubtest.Files{"atlantis.yaml": strings.Replace(reviewed, "apply_requirements", "apply_requirement", 1)})
	s.settle()
	s.expect("a broken file", s.status(n), "the projects could not be determined", "on atlantis.yaml line 5", "apply_requirement")
	s.expect("its plan", s.say("alice", n, "lockstep plan"), "**Failed to plan** `atlantis.", "on atlantis.yaml line 5")

	m := s.pull("alice", "c", githubtest.Files{"net/c.tf": resource("c", "1")})
	s.repo.Push("bob", "main", "Broken", githubtest.Files{"atlantis.yaml": strings.Replace(reviewed, "apply_requirements", "apply_requirement", 1)})
	s.expect("a requirement that cannot be read", s.say("alice", m, "lockstep apply"), "**Not applied** `net`", "settings on the base branch without errors")
}

// TestLockstepOfTheBase holds that a pull request does not evade the lockstep.hcl of the base branch by an
// atlantis.yaml in its place.
func TestLockstepOfTheBase(t *testing.T) {
	t.Parallel()
	s := newStage(t, requiring("apply", "  approvals = 1"))
	n := s.pull("alice", "b", githubtest.Files{"net/b.tf": resource("b", "1"), "lockstep.hcl": githubtest.Deleted, "atlantis.yaml": "version: 3\nprojects:\n- {name: other, dir: net}\n"})
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Not applied** `other`", "**not met**: an approval")
}
