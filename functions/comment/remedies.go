package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// A remedy is a sentence about what can be done next, where something is true of a pull request.
type remedy struct {
	when func(Status) bool
	say  func(Status) string
}

// after are the remedies for what a merge has left.
var after = []remedy{
	{Status.late, says(lateWords)},
	{
		func(s Status) bool {
			return s.Merged && s.some(func(p ProjectStatus) bool { return p.Standing == NotApplied && !p.Late })
		},
		func(s Status) string {
			return fmt.Sprintf("To apply what was merged, comment %s for a plan of the base branch, look at it, and comment %s.", markdown.Code("lockstep retry"), s.afterRetry())
		},
	},
	{
		func(s Status) bool {
			unapplied := s.some(func(p ProjectStatus) bool { return p.Standing == NotApplied && !p.Late })
			return s.Merged && !unapplied && s.has(PlanFailed, PlanStopped, ApplyFailed, Stale, PartPlanned, PartApplied)
		},
		says("For a new plan of what was merged and is not applied, comment " + markdown.Code("lockstep retry") + "."),
	},
}

// next are the remedies for a pull request that is open, or for the plans that were made after its merge.
var next = []remedy{
	{func(s Status) bool { return s.ready(true) }, says("To destroy the objects of a removed project, comment the command in the table.")},
	{func(s Status) bool { return s.ready(false) }, Status.toApply},
	{has(Renewed), says("A plan that differs from the one before waits for the command in the table.")},
	{
		func(s Status) bool { return s.some(func(p ProjectStatus) bool { return p.ranked() == OnMerge }) },
		says("Merging this pull request applies the plans that wait for it."),
	},
	{has(OnceMerged), says("Comment " + markdown.Code("lockstep retry") + " on this pull request once it is merged, for plans of what is to be applied after the merge.")},
	{Status.lacking, says("What is missing has to be there before the merge: the merge applies no plan that lacks it.")},
	{
		func(s Status) bool { return !s.lacking() && s.holds(OnMerge) },
		says("What is missing may come before the merge or after it: the merge applies such a plan once it is there, if the plan still fits the base branch then."),
	},
	{
		func(s Status) bool {
			return s.some(func(p ProjectStatus) bool { return p.Standing == Ready && p.afterMerge() })
		},
		says("What comes after such a plan is applied after the merge: comment " + markdown.Code("lockstep retry") + " then."),
	},
	{func(s Status) bool { return s.some(ProjectStatus.ownOrder) }, says(reasons.OrderFirst)},
	{
		func(s Status) bool { return s.has(OnMerge) && s.Automerge },
		says("The merge is left to you: " + markdown.Code("automerge") + " merges what is applied before."),
	},
	{has(Previewed), says("Nothing of a fork's pull request is applied before it is merged. Then comment " + markdown.Code("lockstep plan") + ": what was merged is planned with credentials.")},
	{
		blockedBy(func(p ProjectStatus) bool { return len(p.Blockers) > 0 && !p.Locked && !p.Copied }),
		says("A plan behind one that is applied and not merged is made again by itself once that pull request is merged or closed."),
	},
	{
		blockedBy(func(p ProjectStatus) bool { return len(p.Blockers) == 0 }),
		says("A plan that waits for what is missing can be applied once that is fulfilled."),
	},
	{
		blockedBy(func(p ProjectStatus) bool { return p.Reserved }),
		says(markdown.Code("lockstep unlock") + " on the pull request that has the lock lifts it; then the plan can be applied."),
	},
	{has(Stopped), says(fmt.Sprintf("To go on with a stopped apply, comment %s; for a new plan of the rest, %s.", markdown.Code("lockstep apply"), markdown.Code("lockstep plan")))},
	{
		func(s Status) bool {
			doubts := s.some(func(p ProjectStatus) bool { return p.Doubts != nil })
			return s.has(PartPlanned, PartApplied) && !s.Merged && !doubts
		},
		says("To plan all that the pull request changes, comment the command in the table."),
	},
}

// last are the remedies of which the first is the last word to an open pull request.
var last = []remedy{
	{
		func(s Status) bool { return s.Fork && s.has(PlanFailed, PlanStopped, Stale) && !s.Refused },
		func(s Status) string {
			return fmt.Sprintf("To plan again, comment %s.", markdown.Code("lockstep plan "+s.Head))
		},
	},
	{
		func(s Status) bool {
			return s.Problem != "" && !s.Refused || s.has(PlanFailed, PlanStopped, Stale, ApplyFailed) && !s.Fork
		},
		says("To plan again, push, or comment " + markdown.Code("lockstep plan") + "."),
	},
	{ // it went elsewhere since
		func(s Status) bool { return s.applied() && s.Refused },
		says("Do not merge this pull request as it is: the next plan of the project would revert the applied changes. Let it go into a branch that is planned first."),
	},
	{Status.applied, says("Merge this pull request, so that no other plan reverts the applied changes.")},
}

// remedy says what can be done next.
func (s Status) remedy() string {
	say := s.all(after)
	switch {
	case s.Merged && s.has(Ready, Blocked, Renewed, Stopped):
		say = append(say, s.all(next)...)
	case s.Merged || s.Closed:
	case s.Conflict:
		say = append(say, "Merge the base branch into this one, or rebase it, and push: that plans again.")
	default:
		say = append(say, s.all(next)...)
		if end := s.all(last); len(end) > 0 {
			say = append(say, end[0])
		}
	}
	say = append(say, s.Repeated...)
	return strings.Join(append(say, markdown.Code("lockstep help")+" lists all commands."), " ")
}

// all are the sentences of the remedies that are about a pull request.
func (s Status) all(of []remedy) (say []string) {
	for _, r := range of {
		if r.when(s) {
			say = append(say, r.say(s))
		}
	}
	return say
}

func says(text string) func(Status) string { return func(Status) string { return text } }

func has(list ...Standing) func(Status) bool { return func(s Status) bool { return s.has(list...) } }

// blockedBy reports whether something is true of a plan that is blocked.
func blockedBy(is func(ProjectStatus) bool) func(Status) bool {
	return func(s Status) bool {
		return s.some(func(p ProjectStatus) bool { return p.Standing == Blocked && is(p) })
	}
}

// some reports whether something is true of a project.
func (s Status) some(is func(ProjectStatus) bool) bool { return slices.ContainsFunc(s.Projects, is) }

// has reports whether a project has one of some standings.
func (s Status) has(list ...Standing) bool {
	return s.some(func(p ProjectStatus) bool { return slices.Contains(list, p.Standing) })
}

func (s Status) late() bool { return s.some(func(p ProjectStatus) bool { return p.Late }) }

// holds reports whether a plan with a standing waits for what is missing.
func (s Status) holds(of Standing) bool {
	return s.some(func(p ProjectStatus) bool { return p.Standing == of && p.Held() })
}

// lacking reports whether the merge would not apply a plan, as something is missing.
func (s Status) lacking() bool {
	return s.some(func(p ProjectStatus) bool { return p.Standing == OnMerge && p.Held() && !p.Required.MayCome() })
}

// ready reports whether a comment can apply the plan of a project, one that the pull request removes, or another one.
func (s Status) ready(removed bool) bool {
	return s.some(func(p ProjectStatus) bool {
		return p.Standing == Ready && p.Removed == removed && !p.afterMerge() && !p.Behind.inCircle()
	})
}

// applied reports whether the pull request has changed something that only the merge keeps, and waits for nothing else.
func (s Status) applied() bool {
	changed := s.has(Applied) || s.some(func(p ProjectStatus) bool { return p.Unmerged })
	return changed && !s.has(Ready, OnMerge, Blocked, Renewed, Queued, Planning, Postponed, Awaiting, ApplyQueued, Applying, Stopped, PartPlanned, PartApplied)
}

// toApply tells how the plans are applied that wait for a comment.
func (s Status) toApply() string {
	one := ""
	if len(s.Projects) > 1 {
		one = fmt.Sprintf(", or %s for one project", markdown.Code("lockstep apply -p NAME"))
	}
	free := func(p ProjectStatus) bool { return p.ranked() == Ready && !p.Removed }
	when, then := "To apply this plan", ""
	switch {
	case !s.some(free):
		when = "When that is fulfilled, to apply this plan"
	case !s.some(func(p ProjectStatus) bool { return free(p) && !p.Behind.afterFailed() }):
		when = "Once what comes before is planned again, to apply this plan"
	case s.holds(Ready):
		then = " A plan that waits for what is missing can be applied once that is there: it is left out until then."
	}
	if s.some(func(p ProjectStatus) bool {
		return p.Standing == Ready && p.Behind.outOfTurn() && !p.Behind.inCircle()
	}) {
		then += " A plan that is applied after others waits for those: that applies all, in their order."
	}
	return fmt.Sprintf("%s, comment %s%s.%s", when, markdown.Code("lockstep apply"), one, then)
}
