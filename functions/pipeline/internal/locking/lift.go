package locking

import (
	"context"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/openplans"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A Lifter ends reservations.
type Lifter struct {
	Ledger ledger.Ledger
	Open   openplans.Finder
}

// Lift ends the reservation of a run's state for the run's pull request, and returns it; nil if there is none.
// It can be repeated, with the same result, until [Lifter.Finish] is called.
func (li Lifter) Lift(ctx context.Context, r runs.Run) (*runs.Reservation, error) {
	return li.Ledger.LiftReservation(ctx, r, r.Pull.Number)
}

// Finish removes the reservation that [Lifter.Lift] has ended, and sends messages to update the comments of
// other pull requests. message is the ID of the message that is being handled.
func (li Lifter) Finish(ctx context.Context, r runs.Run, message string) error {
	if err := li.Open.ShowAgain(ctx, r, "lifted", messagePart(message)); err != nil {
		return err
	}
	return li.Ledger.DropReservation(ctx, r, r.Pull.Number)
}

// messagePart returns the ID of a message in a form that can be a part of another message's ID: without "/".
func messagePart(id string) string { return strings.ReplaceAll(id, "/", "-") }
