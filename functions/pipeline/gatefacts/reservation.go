package gatefacts

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Reserved returns a person's lock on the state of a run. If the lock is for another pull request, Reserved
// asks GitHub about that pull request. If it is closed, the lock has ended, too, but the webhook about that may
// be late or lost.
func (e *Reader) Reserved(ctx context.Context, r runs.Run) (*runs.Reservation, error) {
	v, err := e.Ledger.Reservation(ctx, r)
	if err != nil || v == nil || v.Lifted {
		return nil, err
	}
	if v.Number == r.Pull.Number {
		return v, nil
	}
	other, err := e.Hub.PullRequest(ctx, v.Number)
	absent, err := Absent(ctx, e, err)
	if err != nil {
		return v, err
	}
	if !absent && other.Open {
		return v, nil
	}
	_, err = e.Ledger.LiftReservation(ctx, r, v.Number)
	return nil, err
}
