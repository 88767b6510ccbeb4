package gatefacts

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/github"
)

// renamed finds the present name of a message's repository, which is used from now on. GitHub finds a
// repository by its ID, whatever its name. But a message from a webhook contains both ID and name, so renamed
// first checks that they belong together.
func renamed(ctx context.Context, e *Reader) error {
	now, was := e.Pull.Base.Repo, e.Message.Pull.Repo
	if now.ID != was.ID || now.Owner == was.Owner && now.Name == was.Name {
		return nil
	}
	if e.Message.Unverified() {
		err := e.Hub.Confirm(ctx, e.Message.Pull.Number)
		if errors.Is(err, github.ErrNotFound) {
			return fmt.Errorf("%w: %s is not the repository %d", ErrGone, was, was.ID)
		}
		if err != nil {
			return err
		}
	}
	if e.Serves != nil {
		served, err := e.Serves(ctx, now)
		if err != nil {
			return err
		}
		if !served {
			return fmt.Errorf("%w: %s is not served under its name %s", ErrGone, was, now)
		}
	}
	e.Message.Pull.Repo = now
	return nil
}

// Absent returns true if err says that an object on GitHub no longer exists. It returns any other error
// unchanged. GitHub gives the same answer if Lockstep has lost access to the repository, or if the repository
// was transferred. Absent then returns ErrGone, because the object may still exist.
func Absent(ctx context.Context, e *Reader, err error) (bool, error) {
	if !errors.Is(err, github.ErrNotFound) {
		return false, err
	}
	_, lost := e.Hub.PullRequest(ctx, e.Message.Pull.Number)
	if errors.Is(lost, github.ErrNotFound) {
		return false, fmt.Errorf("%w: %w", ErrGone, lost)
	}
	return lost == nil, lost
}
