package gatefacts

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/github"
)

// renamed holds the name of a message's repository against its present one, which counts from then on. GitHub finds a repository
// by its ID, whatever its name; but a message of a webhook is about the repository of both, and that is confirmed first.
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

// Absent reports whether err is that GitHub has an object no more; any other error is returned. GitHub answers the same once we
// have lost access to a repository, or it was transferred: that is ErrGone, and no fact about the object.
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
