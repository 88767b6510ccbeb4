package gatefacts

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/github"
)

// renamed compares the name of a message's repository with its present name, which counts from then on. GitHub
// finds a repository by its ID, whatever its name. But a message from a webhook names both, so the name is
// confirmed first.
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

// Absent reports whether err says that an object on GitHub does not exist any more. It returns any other error.
// GitHub gives the same answer if we lost access to the repository, or if it was transferred. In these two
// cases Absent returns ErrGone, because the object may still exist.
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
