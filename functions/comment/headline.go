package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/internal/sums"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// headlines is the table of headlines, from what a reader has to see first. A row is about some
// standings. It has the text where it is true of all projects, with the commit; where it is true of
// some, with their number, that of all, and the commit; and its place behind another row, for one
// project and for more.
var headlines = []struct {
	of        []Standing
	all, some string
	one, more string
	sum       func(planned, done counting.Counts, applyable bool) string // of the changes, nil where they do not matter
}{
	{[]Standing{PlanFailed}, "Lockstep could not plan %s", "Lockstep could not plan %d of %d projects of %s", "", "", nil},
	{[]Standing{ApplyFailed}, "Lockstep could not apply %s", "Lockstep could not apply %d of %d projects of %s", "was not applied", "were not applied", nil},
	{[]Standing{Blocked}, "The plan for %s cannot be applied now", "%d of %d plans for %s cannot be applied now", "is blocked", "are blocked", sums.OfPlans},
	{[]Standing{held}, "The plan for %s cannot be applied yet", "%d of %d plans for %s cannot be applied yet", "cannot be applied yet", "cannot be applied yet", sums.OfPlans},
	{[]Standing{NotApplied}, "Merged, but not applied: %s", "Merged, but not applied: %d of %d projects of %s", "is merged, but not applied", "are merged, but not applied", nil},
	{[]Standing{Stopped}, "The apply of %s was stopped", "Stopped: %d of %d projects of %s", "was stopped", "were stopped", nil},
	{[]Standing{PlanStopped}, "The plan for %s was stopped", "Planning was stopped: %d of %d projects of %s", "has no plan, as it was stopped", "have no plans, as they were stopped", nil},
	{[]Standing{Renewed}, "Another plan for %s", "Another plan for %d of %d projects of %s", "has another plan", "have another plan", sums.OfPlans},
	{[]Standing{PartPlanned}, "Not all of %s is planned", "Not all is planned of %d of %d projects of %s", "is planned in part", "are planned in part", sums.OfPlans},
	{[]Standing{PartApplied}, "Lockstep has applied a part of %s", "Lockstep has applied a part of %d of %d projects of %s", "is applied in part", "are applied in part", sums.OfApplies},
	{[]Standing{Stale}, "The plan for %s is out of date", "Out of date: %d of %d plans for %s", "is out of date", "are out of date", nil},
	{[]Standing{Queued, Planning, Postponed}, "Lockstep is planning %s", "Lockstep is planning %d of %d projects of %s", "is being planned", "are being planned", nil},
	{[]Standing{Awaiting, ApplyQueued, Applying}, "Lockstep is applying %s", "Lockstep is applying %d of %d projects of %s", "is being applied", "are being applied", nil},
	{[]Standing{inLine}, "The apply of %s waits in the queue", "In the queue: %d of %d projects of %s", "waits in the queue", "wait in the queue", nil},
	{[]Standing{Ready, later, OnMerge, OnceMerged}, "Plan for %s", "Plan for %d of %d projects of %s", "is planned", "are planned", sums.OfPlans},
	{[]Standing{Previewed}, "Plan without credentials for %s", "Plan without credentials for %d of %d projects of %s", "is planned without credentials", "are planned without credentials", sums.OfPlans},
	{[]Standing{Closed}, "Closed, not applied: %s", "Closed, not applied: %d of %d projects of %s", "is not applied", "are not applied", nil},
	{[]Standing{elsewhere}, "What %s has merged is applied", "Applied by other pull requests: %d of %d projects of %s", "is applied by another pull request", "are applied by other pull requests", nil},
	{[]Standing{Applied}, "Lockstep has applied %s", "Lockstep has applied %d of %d projects of %s", "is applied", "are applied", sums.OfApplies},
}

// headline is the comment's first line: the one thing that is true of all projects, or, of a
// mixture, each of them with its number, the worst first. Projects without changes are not counted,
// but beside trouble it is told that they are there.
func (s Status) headline() string {
	at := markdown.Code(markdown.SHA(s.Head))
	switch {
	case s.Problem != "":
		return fmt.Sprintf("Lockstep could not plan %s", at)
	case s.Conflict:
		return fmt.Sprintf("%s cannot be planned: it conflicts with the base branch", at)
	case len(s.Projects) == 0 && s.Policies != "":
		return fmt.Sprintf("%s has policies that decide nothing", at)
	case len(s.Projects) == 0 && s.Removed != "":
		return fmt.Sprintf("%s removes projects, and changes no other", at)
	case len(s.Projects) == 0:
		return fmt.Sprintf("%s touches no project", at)
	}
	all, mixed := "", false
	var parts []string
	queues := s.queues()
	for _, row := range headlines {
		switch {
		case queues && slices.Contains(row.of, Awaiting):
			row.of = []Standing{ApplyQueued, Applying}
		case queues && slices.Contains(row.of, inLine):
			row.of = []Standing{inLine, Awaiting}
		}
		n, planned, done := s.count(row.of)
		if n == 0 {
			continue
		}
		sum := ""
		if row.sum != nil {
			sum = row.sum(planned, done, s.applyable(row.of))
		}
		if slices.Contains(row.of, inLine) {
			sum = s.place()
		}
		switch {
		case len(parts) > 0 && n == 1:
			parts = append(parts, "1 "+row.one+brackets(sum))
		case len(parts) > 0:
			parts = append(parts, fmt.Sprintf("%d %s%s", n, row.more, brackets(sum)))
		default:
			parts = append(parts, fmt.Sprintf(row.some, n, len(s.Projects), at)+brackets(sum))
			mixed = n < len(s.Projects) && ProjectStatus{Standing: row.of[0]}.calm() < 2
			if all = fmt.Sprintf(row.all, at); sum != "" {
				all += ": " + sum
			}
		}
	}
	switch {
	case len(parts) == 0:
		return fmt.Sprintf("Plan for %s: %s", at, sums.ToCome(counting.Counts{}, false))
	case len(parts) > 1 || mixed:
		return strings.Join(parts, ", ")
	}
	return all
}

func brackets(sum string) string {
	if sum == "" {
		return ""
	}
	return " (" + sum + ")"
}

// count returns the number of projects with some standings, and the sums of their changes.
func (s Status) count(of []Standing) (n int, planned, done counting.Counts) {
	for _, p := range s.Projects {
		if slices.Contains(of, p.ranked()) {
			n, planned, done = n+1, planned.Plus(p.Counts), done.Plus(p.Done)
		}
	}
	return n, planned, done
}

// applyable reports whether a plan of a project with some standings can be applied, though it may change no object.
func (s Status) applyable(of []Standing) bool {
	return slices.ContainsFunc(s.Projects, func(p ProjectStatus) bool { return p.Applyable && slices.Contains(of, p.ranked()) })
}
