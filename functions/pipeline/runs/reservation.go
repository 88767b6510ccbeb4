package runs

import (
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// A Reservation is the lock of a person on the state of a project: no other pull request is applied to
// it. It belongs to the pull request and not to a head.
type Reservation struct {
	Number int    // of the pull request
	By     string // login
	Reason string
	At     time.Time `json:",omitzero"`  // of the comment
	For    string    `json:",omitempty"` // ID of the message that asked for it
	// Lifted is set once it has ended. The record goes when other pull requests know.
	Lifted bool `json:",omitempty"`
}

// ReservationKey is the key of the [Reservation] of the state with a name: see [StateName].
func ReservationKey(repo int64, name string) string { return fmt.Sprintf("lock/%d/%s", repo, name) }

// Against is the reason against an apply of a pull request, nil if there is none. v may be nil.
func (v *Reservation) Against(number int) *reasons.LockedByAnother {
	if v == nil || v.Lifted || v.Number == number {
		return nil
	}
	return &reasons.LockedByAnother{Number: v.Number, By: v.By, Because: v.Reason, Since: v.At}
}

// Of is the lock as it is told on its own pull request; nil on others, and if there is none. v may be nil.
func (v *Reservation) Of(number int) *comment.OwnLock {
	if v == nil || v.Lifted || v.Number != number {
		return nil
	}
	return &comment.OwnLock{By: v.By, Because: v.Reason, Since: v.At}
}
