package executor

import (
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// TestLeasedBy holds that whoever meets a lock with a lease reads when it ends, and no advice to clear it
// that is not theirs to follow.
func TestLeasedBy(t *testing.T) {
	t.Parallel()
	mine := jobs.Job{Owner: "lockstep acme/infra#7", Project: "net", Number: 7, Head: strings.Repeat("0", 40)}
	other := mine
	other.Owner, other.Number = "lockstep acme/infra#8", 8
	end := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		text, who string
		unlock    bool
	}{
		{lockText(mine), "a run of this pull request, of the project net", true},
		{lockText(other), "a run of another pull request: lockstep acme/infra#8", false},
		{"", "me@laptop", false},
	} {
		e := &statebackend.LockedError{HeldLock: statebackend.HeldLock{
			Info:  statebackend.LockInfo{ID: "id", Who: "me@laptop", Info: statebackend.LeaseInfo(c.text, "r", "")},
			Lease: &statebackend.Lease{Lock: "id", Fence: 1, Term: statebackend.Term{Run: "r", Until: end.Add(-statebackend.Grace)}},
		}}
		text := flat(lockedBy(mine, e).Error())
		if !strings.Contains(text, "by "+c.who+".") || !strings.Contains(text, "expires at 2026-11-22T10:00:00Z") || strings.Contains(text, "lockstep unlock") != c.unlock {
			t.Errorf("%s: %s", c.who, text)
		}
	}
}
