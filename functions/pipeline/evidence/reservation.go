package evidence

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// Reserved returns the lock of a person on the state of a run. That of another pull request is looked
// up on GitHub: the webhook about its end may be late or lost, and its lock has ended with it.
func (e *Reader) Reserved(ctx context.Context, r runs.Run) (*runs.Reservation, error) {
	v, err := e.Ledger.Reservation(ctx, r)
	if err != nil || v == nil || v.Lifted {
		return nil, err
	}
	if v.Number == r.Pull.Number {
		return v, nil
	}
	other, err := e.Hub.PullRequest(ctx, v.Number)
	if err != nil && !errors.Is(err, github.ErrNotFound) {
		return v, err
	}
	if err == nil && other.Open {
		return v, nil
	}
	_, err = e.Ledger.LiftReservation(ctx, r, v.Number)
	return nil, err
}
