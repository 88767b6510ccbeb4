package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

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
	for _, row := range table {
		of := row.standings()
		switch {
		case queues && slices.Contains(of, Awaiting):
			of = []Standing{ApplyQueued, Applying}
		case queues && slices.Contains(of, inLine):
			of = []Standing{inLine, Awaiting}
		}
		n, planned, done := s.count(of)
		if n == 0 || row.all == "" {
			continue
		}
		sum := ""
		if row.sum != nil {
			sum = row.sum(planned, done, s.applyable(of))
		}
		if slices.Contains(of, inLine) {
			sum = s.place()
		}
		switch {
		case len(parts) > 0 && n == 1:
			parts = append(parts, "1 "+row.one+brackets(sum))
		case len(parts) > 0:
			parts = append(parts, fmt.Sprintf("%d %s%s", n, row.more, brackets(sum)))
		default:
			parts = append(parts, fmt.Sprintf(row.some, n, len(s.Projects), at)+brackets(sum))
			mixed = n < len(s.Projects) && of[0].calm() < 2
			if all = fmt.Sprintf(row.all, at); sum != "" {
				all += ": " + sum
			}
		}
	}
	switch {
	case len(parts) == 0:
		return fmt.Sprintf("Plan for %s: %s", at, toComeText(counting.Counts{}, false))
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
