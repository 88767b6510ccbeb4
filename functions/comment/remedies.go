package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
)

// A remedy is a sentence that tells people what to do next. It is shown only if a condition is true.
type remedy struct {
	when func(Status) bool
	say  func(Status) string
}

// after are the sentences on what to do if a merge has left changes unapplied.
var after = []remedy{
	{Status.late, says(lateWords)},
	{
		func(s Status) bool {
			return s.Merged && s.some(func(p ProjectStatus) bool { return p.Standing == NotApplied && !p.Late })
		},
		func(s Status) string {
			return fmt.Sprintf("To apply what was merged, comment `lockstep retry` for a new plan. Read it, then comment %s.", s.afterRetry())
		},
	},
	{
		func(s Status) bool {
			unapplied := s.some(func(p ProjectStatus) bool { return p.Standing == NotApplied && !p.Late })
			return s.Merged && !unapplied && s.has(PlanFailed, PlanStopped, ApplyFailed, Stale, PartPlanned, PartApplied)
		},
		says("For a new plan of what was merged and is not applied, comment `lockstep retry`."),
	},
}

// next are the sentences on what to do in an open pull request, and for plans that were made after the merge.
var next = []remedy{
	{
		func(s Status) bool { return s.ranks(Denied) },
		says("A denied plan needs a change of the configuration, or an override by somebody named above."),
	},
	{func(s Status) bool { return s.ready(true) && s.Removed == "" }, says("To destroy the objects of a removed project, comment the command in the table.")},
	{func(s Status) bool { return s.ready(false) }, Status.toApply},
	{
		has(Renewed),
		func(s Status) string {
			switch {
			case s.some(func(p ProjectStatus) bool { return p.Standing == Renewed && p.ByMerge }):
				return "The merge does not apply a new plan that nobody has confirmed. Comment `lockstep plan` for the project, and read that plan. Then merge."
			case s.holds(Renewed):
				return "Read the new plan. Once its requirements are met, to confirm it, comment the command in the table."
			}
			return "Read the new plan. To confirm it, comment the command in the table."
		},
	},
	{
		func(s Status) bool { return s.ranks(OnMerge) },
		func(s Status) string {
			return fmt.Sprintf("To apply %s, merge this pull request.", plural(len(s.Projects) == 1, "this plan", "the plans that apply on merge"))
		},
	},
	{has(OnceMerged), says("After the merge, comment `lockstep retry` here: Lockstep then plans the projects that can only be applied after the merge.")},
	{Status.lacking, Status.beforeMerge},
	{
		func(s Status) bool { return s.some(func(p ProjectStatus) bool { return p.Vain && p.StoppedBy == "" }) },
		says("A failed command has changed nothing: its answer shows the error. To try again, write the command in a new comment."),
	},
	{
		func(s Status) bool { return !s.lacking() && s.holds(OnMerge) },
		says("Requirements of plans that apply on merge can be met before or after the merge. Lockstep then applies the plan, if the plan is still up to date then."),
	},
	{
		func(s Status) bool {
			return s.some(func(p ProjectStatus) bool { return p.Standing == Ready && p.afterMerge() })
		},
		says("To apply the projects that come after those, comment `lockstep retry` after the merge."),
	},
	{func(s Status) bool { return s.some(ProjectStatus.ownOrder) }, says(reasons.OrderFirst)},
	{
		func(s Status) bool { return s.has(OnMerge) && s.Automerge },
		says("You have to merge it yourself: `automerge` merges only pull requests that are applied before the merge."),
	},
	{has(Previewed), says("Lockstep applies nothing from a fork before the merge. After the merge, comment `lockstep plan` to plan it with credentials.")},
	{
		blockedBy(func(p ProjectStatus) bool { return p.BlockedBy != 0 && !p.Copied }),
		says("Lockstep plans a blocked project again once the other pull request is merged or closed."),
	},
	{
		blockedBy(func(p ProjectStatus) bool { return len(p.Blockers) == 0 }),
		says("A blocked plan can be applied once its requirements are met."),
	},
	{
		blockedBy(func(p ProjectStatus) bool { return p.LockedBy != 0 }),
		func(s Status) string {
			i := slices.IndexFunc(s.Projects, func(p ProjectStatus) bool { return p.Standing == Blocked && p.LockedBy != 0 })
			return fmt.Sprintf("To release the lock, comment `lockstep unlock` on #%d.", s.Projects[i].LockedBy)
		},
	},
	{has(Stopped), says("To continue a cancelled apply, comment `lockstep apply`. For a new plan of the rest, comment `lockstep plan`.")},
	{
		func(s Status) bool {
			doubts := s.some(func(p ProjectStatus) bool { return p.Doubts != nil })
			return s.has(PartPlanned, PartApplied) && !s.Merged && !doubts
		},
		says("To plan everything that the pull request changes, comment the command in the table."),
	},
}

// last are the final sentences for an open pull request. Only the first whose condition is true is shown.
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
		says("To plan again, push a commit or comment `lockstep plan`."),
	},
	{ // it went elsewhere since
		func(s Status) bool { return s.applied() && s.Refused },
		says("Do not merge it into this branch: the next plan of the project would undo the applied changes. First change the base branch of this pull request to one that Lockstep plans."),
	},
	{Status.applied, says("Merge this pull request. Until then, the next apply from another branch would undo the applied changes.")},
}

// remedy returns the text on what can be done next.
func (s Status) remedy() string {
	say := s.all(after)
	switch {
	case s.Merged && s.has(Ready, Blocked, Renewed, Stopped):
		say = append(say, s.all(next)...)
	case s.Merged || s.Closed:
	case s.Conflict:
		say = append(say, "Merge the base branch into this branch, or rebase it. Then push: Lockstep plans again.")
	default:
		say = append(say, s.all(next)...)
		if end := s.all(last); len(end) > 0 {
			say = append(say, end[0])
		}
	}
	say = append(say, s.Repeated...)
	const help = "`lockstep help` lists all commands."
	if len(say) > 1 {
		return "- " + strings.Join(say, "\n- ") + "\n\n" + help
	}
	return strings.Join(append(say, help), " ")
}

// all returns those sentences of the list whose conditions are true for the pull request.
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

// blockedBy returns a condition: the pull request has a blocked project for which matches returns true.
func blockedBy(matches func(ProjectStatus) bool) func(Status) bool {
	return func(s Status) bool {
		return s.some(func(p ProjectStatus) bool { return p.Standing == Blocked && matches(p) })
	}
}

// some reports whether is(p) is true for at least one project p.
func (s Status) some(is func(ProjectStatus) bool) bool { return slices.ContainsFunc(s.Projects, is) }

// has reports whether at least one project of the pull request has one of the given standings.
func (s Status) has(list ...Standing) bool {
	return s.some(func(p ProjectStatus) bool { return slices.Contains(list, p.Standing) })
}

func (s Status) late() bool { return s.some(func(p ProjectStatus) bool { return p.Late }) }

// holds reports whether at least one project with the given standing has a plan that waits for a requirement.
func (s Status) holds(of Standing) bool {
	return s.some(func(p ProjectStatus) bool { return p.Standing == of && p.Held() })
}

// beforeMerge returns a sentence that lists the projects whose requirements must be met before the merge.
func (s Status) beforeMerge() string {
	var names []string
	for _, p := range s.Projects {
		if p.lacking() {
			names = append(names, p.Label())
		}
	}
	return fmt.Sprintf("Meet the requirements of %s before you merge: the merge applies only plans whose requirements are met.", headed(names))
}

// lacking reports whether the merge would leave a plan unapplied, because its requirements are not met. It
// ignores requirements that can still be met after the merge.
func (s Status) lacking() bool {
	return s.some(ProjectStatus.lacking)
}

// lacking reports whether the merge would leave the plan unapplied, because its requirements are not met. It
// ignores requirements that can still be met after the merge.
func (p ProjectStatus) lacking() bool {
	return p.Standing == OnMerge && p.Held() && !p.Required.MayCome()
}

// ready reports whether a comment can apply the plan of at least one project. If removed is true, it looks only
// at projects that the pull request removes; otherwise only at all other projects.
func (s Status) ready(removed bool) bool {
	return s.some(func(p ProjectStatus) bool {
		return p.Standing == Ready && p.Removed == removed && !p.afterMerge() && !p.Behind.inCircle()
	})
}

// applied reports whether all of the pull request is applied, so that it only has to be merged. Without the
// merge, the next plan of the base branch would undo the changes.
func (s Status) applied() bool {
	changed := s.has(Applied) || s.some(func(p ProjectStatus) bool { return p.Unmerged })
	return changed && !s.has(Ready, OnMerge, Blocked, Renewed, Queued, Planning, Postponed, Awaiting, ApplyQueued, Applying, Stopped, PartPlanned, PartApplied)
}

// ranks reports whether the standing of at least one project, for display, equals the parameter is: see
// [ProjectStatus.ranked].
func (s Status) ranks(is Standing) bool {
	return s.some(func(p ProjectStatus) bool { return p.ranked() == is })
}

// toApply returns the advice on how to apply the plans that wait for a comment.
func (s Status) toApply() string {
	free := func(p ProjectStatus) bool { return p.ranked() == Ready }
	mine := func(p ProjectStatus) bool { return p.Standing == Ready && !p.Removed && !p.afterMerge() }
	n, first := 0, ""
	for _, p := range s.Projects {
		if free(p) {
			n, first = n+1, p.Label()
		}
	}
	plans := plural(n == 1 || len(s.Projects) == 1, "this plan", "these plans")
	if n == 1 && len(s.Projects) > 1 {
		plans = "the plan of " + markdown.Code(first)
	}
	when, then := "To apply "+plans, ""
	switch {
	case n == 0 && !s.some(func(p ProjectStatus) bool { return mine(p) && p.ranked() != needsApproval }):
		when = "Approve the pull request. Then, to apply " + plans
	case n == 0 && !s.some(func(p ProjectStatus) bool { return mine(p) && p.Required.Outcome != rulings.Unknown }):
		when = "Correct the cause of each requirement that is unknown. Then, to apply " + plans
	case n == 0:
		when = "Once the requirements are met, to apply " + plans
	case !s.some(func(p ProjectStatus) bool { return free(p) && !p.Behind.afterFailed() }):
		when = "First plan the projects that come before. Then, to apply " + plans
	case s.holds(Ready):
		then = " Lockstep skips plans whose requirements are not met."
	}
	if s.some(func(p ProjectStatus) bool {
		return p.Standing == Ready && p.Behind.outOfTurn() && !p.Behind.inCircle()
	}) {
		then += " Lockstep applies projects in the order of their dependencies."
	}
	text := fmt.Sprintf("%s, comment `lockstep apply`.", when)
	if len(s.Projects) > 1 && n != 1 {
		text = fmt.Sprintf("%s, comment `lockstep apply`, or `lockstep apply -p NAME` for one project.", when)
	}
	return text + then
}
