package reserving

import (
	"context"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/openplans"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A Lifter ends reservations.
type Lifter struct {
	Ledger ledger.Ledger
	Open   openplans.Finder
}

// Lift ends the reservation that a run's pull request has on its state, and returns it; nil if there is
// none. message is the ID of the message that asks for it. After a death it can be repeated: the
// reservation is lifted first, and removed once the other pull requests know.
func (li Lifter) Lift(ctx context.Context, r runs.Run, message string) (*runs.Reservation, error) {
	v, err := li.Ledger.LiftReservation(ctx, r, r.Pull.Number)
	if err != nil || v == nil {
		return nil, err
	}
	if err := li.Open.Tell(ctx, r, "lifted", plain(message)); err != nil {
		return nil, err
	}
	return v, li.Ledger.DropReservation(ctx, r, r.Pull.Number)
}

// plain is the ID of a message as a part of another one's.
func plain(id string) string { return strings.ReplaceAll(id, "/", "-") }
