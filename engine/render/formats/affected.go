package formats

import (
	"time"

	"github.com/lockstep-iac/lockstep/engine/plans"
)

// Affected says in a JSON message what a plan with -refresh=affected has not read. Only Lockstep has this member.
type Affected struct {
	Unread     int    `json:"unread"`
	UnreadData int    `json:"unread_data"`
	Since      string `json:"since,omitempty"`
	Everything string `json:"everything_because,omitempty"`
}

// AffectedOf returns the member of a plan; nil if the plan was not asked to read only what is affected.
func AffectedOf(a *plans.Affected) *Affected {
	if a == nil {
		return nil
	}
	out := &Affected{Unread: a.Unread, UnreadData: a.UnreadData, Everything: a.Everything}
	if !a.Since.IsZero() {
		out.Since = a.Since.UTC().Format(time.RFC3339)
	}
	return out
}
