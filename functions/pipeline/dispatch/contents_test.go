package dispatch_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestContents holds that the page keeps the contents of a state until the next apply, whatever is planned or closed meanwhile.
func TestContents(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"net/main.tf": "", "lockstep.hcl": netProject})
	n := s.pull("alice", "b", githubtest.Files{"net/a.tf": resource("a", "1") + "output \"size\" {\n  value = 7\n}\n"})
	contents := func(when string, want ...string) {
		t.Helper()
		text, err := s.data.Artifacts.Get(t.Context(), s.run(n).Contents())
		if errors.Is(err, pipeline.ErrNoArtifact) {
			text, err = []byte("none"), nil
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s, the contents lack %q: %s", when, part, text)
			}
		}
	}
	contents("before the apply", "none")
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 1 added")
	contents("after the apply", "size = 7", "terraform_data.a")
	s.repo.Push("alice", "b", "Another", githubtest.Files{"net/b.tf": resource("b", "1")})
	s.settle()
	contents("after another plan", "size = 7", "terraform_data.a")
	s.expect("the apply", s.say("alice", n, "lockstep apply"), "**Applied** `net`: 1 added")
	contents("after another apply", "size = 7", "terraform_data.a", "terraform_data.b")
	s.repo.Merge("alice", n)
	s.settle()
	contents("after the merge", "size = 7", "terraform_data.b")
}
