package reconcile

import (
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/github"
)

// missed returns the lost webhooks among attempts at deliveries, which are sorted newest first. A lost webhook
// may have an effect, and no attempt has delivered it. missed returns its newest attempt. The result is in the
// order of time. GitHub gets an answer of 2xx only for a delivery that was received completely.
func missed(attempts []github.DeliveryInfo) []github.DeliveryInfo {
	arrived := map[string]bool{}
	for _, a := range attempts {
		arrived[a.GUID] = arrived[a.GUID] || a.OK
	}
	var out []github.DeliveryInfo
	for _, a := range attempts {
		if intake.CanBecomeMessage(a.Event) && !arrived[a.GUID] {
			arrived[a.GUID] = true // the others are older
			out = append([]github.DeliveryInfo{a}, out...)
		}
	}
	return out
}

// dead returns the leases whose processes certainly ended before a time.
func dead(all []ledger.Lease, before time.Time) []ledger.Lease {
	var out []ledger.Lease
	for _, l := range all {
		if l.HardStop.Before(before) {
			out = append(out, l)
		}
	}
	return out
}

// unseen reports whether nobody has looked at the head of an open pull request for its present base branch. A
// look for a command may have covered only some projects.
func unseen(p github.PullRequest, seen ledger.Look) bool {
	return p.Open && (p.Head.SHA != seen.Head || seen.Closed || seen.Asked || seen.Into != p.Base.Ref)
}

// ended returns the pull requests that have ended although the looks at them say that they are open, or whose
// end was seen and not handled. They are not among the open ones.
func ended(looks []ledger.Look, open []github.PullRequest) (numbers []int) {
	for _, l := range looks {
		is := func(p github.PullRequest) bool { return p.Number == l.Pull.Number }
		if (!l.Closed || l.Unheard) && !slices.ContainsFunc(open, is) {
			numbers = append(numbers, l.Pull.Number)
		}
	}
	return numbers
}

// misnamed reports whether a pull request has to be looked at again because its base branch is now one whose
// pull requests are planned, or no longer is. named tells whether it is the default branch, or the settings
// there name it. stands is set if plans of the pull request are open, or it is applied, and nobody has noticed.
func misnamed(seen ledger.Look, named, stands bool) bool {
	if named {
		return seen.Refused != "" && seen.Refused == seen.Problem // only the base branch prevented a look
	}
	return stands
}

// faulty reports whether a look could not find the projects of a pull request whose base branch is planned, or
// found broken policies.
func faulty(seen ledger.Look) bool {
	return (seen.Problem != "" || seen.Policies != "") && seen.Refused == ""
}

// untangled reports whether a conflict with the base branch may be resolved, because the base branch is at
// another commit now. GitHub sends the pull request no webhook about that.
func untangled(seen ledger.Look, tip string) bool { return seen.Conflict && tip != seen.Base }

// unanswered returns the comments of people that contain commands and were never edited. The first text of an
// edited comment is unknown, and its present text does not count.
func unanswered(list []github.Comment) []github.Comment {
	var out []github.Comment
	for _, c := range list {
		if !c.Bot && !c.Edited && c.Author != "" && len(grammar.Parse(c.Body)) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// idle reports whether a repository need not be looked at again until one of its pull requests changes.
// GitHub's times have seconds, and its lists may be late.
func idle(open int, changed, now time.Time) bool {
	return open == 0 && changed.Before(now.Add(-overlap))
}

// behind returns a whole list, rotated so that it begins after the named element. It returns the list unchanged
// if there is no such element.
func behind[T any](list []T, name string, of func(T) string) []T {
	i := slices.IndexFunc(list, func(x T) bool { return of(x) == name })
	return slices.Concat(list[i+1:], list[:i+1])
}

// inTurn returns at most so many elements of a list, beginning with another one in each minute.
func inTurn[T any](list []T, most int, now time.Time) []T {
	if len(list) <= most {
		return list
	}
	at := int(now.Unix()/60) % len(list)
	return append(list[at:len(list):len(list)], list[:at]...)[:most]
}
