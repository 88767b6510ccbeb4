package reconcile

import (
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/ledger"
	"github.com/lockstep-iac/lockstep/github"
)

// told are the events that something follows from.
var told = map[string]bool{"pull_request": true, "issue_comment": true, "pull_request_review": true, "check_run": true, "check_suite": true}

// Missed returns, of attempts to deliver webhooks, newest first, the newest one of each
// webhook that something may follow from and that no attempt has delivered, oldest
// first. An answer of 2xx is given only to what is received to its end.
func Missed(attempts []github.DeliveryInfo) []github.DeliveryInfo {
	arrived := map[string]bool{}
	for _, a := range attempts {
		arrived[a.GUID] = arrived[a.GUID] || a.OK
	}
	var out []github.DeliveryInfo
	for _, a := range attempts {
		if told[a.Event] && !arrived[a.GUID] {
			arrived[a.GUID] = true // the others are older
			out = append([]github.DeliveryInfo{a}, out...)
		}
	}
	return out
}

// Dead returns the leases whose processes ended before a time, for sure.
func Dead(all []ledger.Lease, before time.Time) []ledger.Lease {
	var out []ledger.Lease
	for _, l := range all {
		if l.HardStop.Before(before) {
			out = append(out, l)
		}
	}
	return out
}

// Unseen reports whether nobody has looked at the head of a pull request.
func Unseen(p github.PullRequest, seen ledger.Look) bool { return p.Open && p.Head.SHA != seen.Head }

// Unanswered returns the comments of people that have commands as they were written.
// What an edited one said at first cannot be known, and what it says now does not count.
func Unanswered(list []github.Comment) []github.Comment {
	var out []github.Comment
	for _, c := range list {
		if !c.Bot && !c.Edited && c.Author != "" && len(comment.Parse(c.Body)) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// Behind returns all of a list, beginning behind the one of a name; as it is if there is
// none.
func Behind[T any](list []T, name string, of func(T) string) []T {
	i := slices.IndexFunc(list, func(x T) bool { return of(x) == name })
	return slices.Concat(list[i+1:], list[:i+1])
}
