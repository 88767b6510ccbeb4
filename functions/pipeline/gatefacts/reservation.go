package gatefacts

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Reserved returns the lock of a person on the state of a run. If the lock belongs to another pull request,
// GitHub is asked about that pull request. The webhook about the end of that pull request may be late or
// lost, although the lock has ended with the pull request.
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
