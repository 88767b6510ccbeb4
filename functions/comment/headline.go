package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// headline returns the first line of the comment: the states of the projects in short, and the commit.
func (s Status) headline() string {
	at := markdown.Code(markdown.SHA(s.Head))
	switch {
	case s.Problem != "" && s.Refused:
		return fmt.Sprintf("Nothing is planned (%s)", at)
	case s.Problem != "":
		return fmt.Sprintf("Failed: the projects could not be determined (%s)", at)
	case s.Conflict:
		return fmt.Sprintf("Failed: the branch conflicts with the base branch (%s)", at)
	case len(s.Projects) == 0 && s.Policies != "":
		return fmt.Sprintf("Failed: broken policies (%s)", at)
	case len(s.Projects) == 0 && s.Removed != "":
		return fmt.Sprintf("Only removed projects (%s)", at)
	case len(s.Projects) == 0:
		return fmt.Sprintf("No project is affected (%s)", at)
	}
	text := s.verdict()
	if len(s.Projects) == 1 {
		p := s.Projects[0]
		text = markdown.Code(p.Label()) + ": " + p.state(func(cell string) string { return strings.ReplaceAll(cell, "**", "") })
	}
	return fmt.Sprintf("%s (%s)", text, at)
}

// verdict returns the states of the projects in short, in the order of [states]: "2 projects failed to plan, 1
// denied, 23 ready to apply". If all projects that are not up to date have the same state, it also returns the
// number of changes.
func (s Status) verdict() string {
	var parts []string
	sum, last, told := "", 0, 0
	for _, x := range states {
		n, planned, done := s.count(x.standings())
		if n == 0 {
			continue
		}
		word := x.more
		if n == 1 {
			word = x.one
		}
		if x.of[0].is == inLine {
			word += " behind " + turnPulls(s.ahead())
		}
		if len(parts) == 0 {
			word = plural(n == 1, "project ", "projects ") + word
		}
		if quiet := x.of[0].is == NoChanges || x.of[0].is == Superseded; !quiet {
			if told, last, sum = told+1, len(parts), ""; x.sum != nil {
				sum = x.sum(planned, done, s.applyable(x.standings()))
			}
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, word))
	}
	switch {
	case told != 1 || sum == "":
	case len(parts) > 1:
		parts[last] += " (" + sum + ")"
	default:
		parts[last] += dash + sum
	}
	return strings.Join(parts, ", ")
}

// ranked returns the standing with which a project is counted in the headline. A project that waits for queued
// projects counts as queued.
func (s Status) ranked(p ProjectStatus) Standing {
	if r := p.ranked(); r != Awaiting || !s.queues() {
		return r
	}
	return inLine
}

// count returns the number of projects whose standing is one of the given ones, the sum of their planned
// changes, and the sum of the changes that were made.
func (s Status) count(of []Standing) (n int, planned, done counting.Counts) {
	for _, p := range s.Projects {
		if slices.Contains(of, s.ranked(p)) {
			n, planned, done = n+1, planned.Plus(p.Counts), done.Plus(p.Done)
		}
	}
	return n, planned, done
}

// applyable reports whether a project whose standing is one of the given ones has a plan that can be applied,
// although it changes no object.
func (s Status) applyable(of []Standing) bool {
	return slices.ContainsFunc(s.Projects, func(p ProjectStatus) bool { return p.Applyable && slices.Contains(of, s.ranked(p)) })
}
