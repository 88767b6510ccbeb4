package dispatch_test

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// crowded is a repository whose checkouts find a full disk, from one on.
type crowded struct {
	dispatch.GitHub
	left *int // checkouts that there is room for
}

func (c crowded) Checkout(ctx context.Context, sha, dir string) (github.Unpacked, error) {
	if *c.left--; *c.left < 0 {
		return github.Unpacked{}, fmt.Errorf("check out %.7s: unpack: %w", sha, &os.PathError{Op: "write", Path: dir, Err: syscall.ENOSPC})
	}
	return c.GitHub.Checkout(ctx, sha, dir)
}

// TestFullDisk holds that a plan for whose files there is no room is over at once, with the remedy in comment and check,
// whether the projects could not be looked for or one of them not planned; and that another one may be made.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.strict = true
	left, connect := 0, s.pipeline.Connect
	s.pipeline.Connect = func(p pipeline.Pull) (dispatch.GitHub, error) {
		hub, err := connect(p)
		return crowded{hub, &left}, err
	}
	remedy := []string{"the disk is full: there is no room for the files of the repository", "the parameter `EphemeralStorage` of the template", "`lockstep plan` tries again"}
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.expect("no projects", s.status(n), remedy...)
	s.expect("the check of no projects", s.check("b"), "The projects cannot be determined")
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
	s.expect("the plan", s.status(n), "2 to add", "waits for `lockstep apply`")
}
