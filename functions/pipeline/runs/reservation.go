package runs

import (
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// A Reservation is the lock of a person on the state of a project: no other pull request may apply to it. The
// lock belongs to the pull request, and stays if the head changes.
type Reservation struct {
	Number int    // of the pull request
	By     string // login
	Reason string
	At     time.Time `json:",omitzero"`  // of the comment
	For    string    `json:",omitempty"` // ID of the message that requested it
	// Lifted is set once the lock has ended. The record is deleted when the other pull requests are informed.
	Lifted bool `json:",omitempty"`
}

// ReservationKey returns the key of the [Reservation] of the state with a name: see [StateName].
func ReservationKey(repo int64, name string) string { return fmt.Sprintf("lock/%d/%s", repo, name) }

// Blocks returns the reason why the lock blocks an apply of the pull request with the given number. It returns
// nil if the lock does not block the apply. v may be nil.
func (v *Reservation) Blocks(number int) *reasons.LockedByAnother {
	if v == nil || v.Lifted || v.Number == number {
		return nil
	}
	return &reasons.LockedByAnother{Number: v.Number, By: v.By, Because: v.Reason, Since: v.At}
}

// OwnLock returns the lock in the form in which the lock's own pull request shows it. It returns nil for other
// pull requests, and if there is no lock. v may be nil.
func (v *Reservation) OwnLock(number int) *comment.OwnLock {
	if v == nil || v.Lifted || v.Number != number {
		return nil
	}
	return &comment.OwnLock{By: v.By, Because: v.Reason, Since: v.At}
}
