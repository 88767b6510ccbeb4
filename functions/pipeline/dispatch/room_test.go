package dispatch_test

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// TestFullDisk holds that a plan for whose files there is no room is over at once, with the remedy in comment and check,
// whether the projects could not be looked for or one of them not planned; and that another one may be made.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.strict = true
	left := 0 // checkouts that there is room for
	s.gate(func(ctx context.Context, x memory.Effect, do func(context.Context) error) error {
		if x.Call == "checkout" {
			if left--; left < 0 {
				return fmt.Errorf("check out %.7s: unpack: %w", x.With, &os.PathError{Op: "write", Path: "dir", Err: syscall.ENOSPC})
			}
		}
		return do(ctx)
	})
	remedy := []string{"the disk is full: there is no room for the files of the repository", "the parameter `EphemeralStorage` of the template", "comment `lockstep plan`"}
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.expect("no projects", s.status(n), remedy...)
	s.expect("the check of no projects", s.check("b"), "Failed: the projects could not be determined")
	planned := false
	for left = 1; !planned && left < 9; left++ { // so many checkouts find the projects
		room := left
		s.say("alice", n, "lockstep plan")
		if planned = left >= 0; planned {
			break
		}
		s.expect(fmt.Sprintf("room for %d checkouts", room), s.status(n), remedy...)
		left = room
	}
	if !planned {
		t.Error("no number of checkouts is enough")
	}
	s.expect("the plan", s.status(n), "2 to add", "ready to apply")
}
