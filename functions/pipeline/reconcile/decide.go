package reconcile

import (
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/github"
)

// missed returns the lost webhooks among attempts at deliveries, which are sorted newest first. A webhook is
// lost if it may have an effect and no attempt has delivered it: GitHub gets a status of 2xx only for a
// delivery that was received completely. missed returns the newest attempt of each lost webhook, the oldest
// attempt first.
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

// unseen reports whether the head of an open pull request was never examined completely for its present base
// branch. A look for a command may have covered only some projects.
func unseen(p github.PullRequest, seen ledger.Look) bool {
	return p.Open && (p.Head.SHA != seen.Head || seen.Closed || seen.Asked || seen.Into != p.Base.Ref)
}

// ended returns the numbers of pull requests whose end was not handled. These pull requests are not in the list
// open. The last look says that they are open, or that their end was found but not handled.
func ended(looks []ledger.Look, open []github.PullRequest) (numbers []int) {
	for _, l := range looks {
		is := func(p github.PullRequest) bool { return p.Number == l.Pull.Number }
		if (!l.Closed || l.Unheard) && !slices.ContainsFunc(open, is) {
			numbers = append(numbers, l.Pull.Number)
		}
	}
	return numbers
}

// misnamed reports whether a pull request must be examined again because its base branch now has planned pull
// requests, or no longer has them. named is set if pull requests into the base branch are planned: it is the
// default branch, or the settings of the default branch name it. active is set if the pull request has open
// plans, or applies that the last look still allowed.
func misnamed(seen ledger.Look, named, active bool) bool {
	if named {
		return seen.Refused != "" && seen.Refused == seen.Problem // only the base branch prevented a look
	}
	return active
}

// faulty reports whether a look could not find the projects of a pull request whose base branch is planned, or
// found broken policies.
func faulty(seen ledger.Look) bool {
	return (seen.Problem != "" || seen.Policies != "") && seen.Refused == ""
}

// untangled reports whether a conflict with the base branch is perhaps resolved, because the base branch is
// at another commit now. GitHub sends no webhook for a pull request when its base branch moves.
func untangled(seen ledger.Look, tip string) bool { return seen.Conflict && tip != seen.Base }

// unanswered returns the comments of people that contain commands and were never edited. An edited comment does
// not count, because its first text is not known.
func unanswered(list []github.Comment) []github.Comment {
	var out []github.Comment
	for _, c := range list {
		if !c.Bot && !c.Edited && c.Author != "" && len(grammar.Parse(c.Body)) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// idle reports whether a repository need not be examined again until one of its pull requests changes. open is
// the number of open pull requests, and changed the time of the last change. The result takes into account that
// GitHub's times have a precision of a second, and that GitHub's lists may be late.
func idle(open int, changed, now time.Time) bool {
	return open == 0 && changed.Before(now.Add(-overlap))
}

// behind returns the whole list, rotated so that it begins after the named element. It returns the list
// unchanged if there is no such element.
func behind[T any](list []T, name string, nameOf func(T) string) []T {
	i := slices.IndexFunc(list, func(x T) bool { return nameOf(x) == name })
	return slices.Concat(list[i+1:], list[:i+1])
}

// inTurn returns at most limit elements of a list. In each minute it begins with another element.
func inTurn[T any](list []T, limit int, now time.Time) []T {
	if len(list) <= limit {
		return list
	}
	at := int(now.Unix()/60) % len(list)
	return append(list[at:len(list):len(list)], list[:at]...)[:limit]
}
