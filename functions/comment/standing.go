package comment

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Standing is the progress of a project in a pull request.
type Standing string

const (
	Queued      Standing = "queued" // to be planned
	Planning    Standing = "planning"
	Postponed   Standing = "postponed"    // to be planned after the apply of a former head
	Ready       Standing = "ready"        // planned, with something to do
	OnMerge     Standing = "on merge"     // the same, and merging applies it
	OnceMerged  Standing = "once merged"  // the same, and nobody can apply it before the merge
	Blocked     Standing = "blocked"      // planned, and something is in the way of its apply
	Renewed     Standing = "renewed"      // the same, made since another pull request was applied: it needs an apply that names it
	Previewed   Standing = "previewed"    // planned without credentials: nothing of it is applied
	PartPlanned Standing = "part planned" // with options that leave out what the pull request changes, and nobody can apply that
	NoChanges   Standing = "no changes"
	PlanFailed  Standing = "plan failed"
	PlanStopped Standing = "plan stopped" // by a person, before it was made
	Awaiting    Standing = "awaiting"     // to be applied after other projects
	ApplyQueued Standing = "apply queued"
	Applying    Standing = "applying"
	Applied     Standing = "applied"
	PartApplied Standing = "part applied" // a plan with such options
	ApplyFailed Standing = "apply failed"
	Stopped     Standing = "stopped"     // applied in part, and stopped by a person
	Stale       Standing = "stale"       // the plan no longer fits: the base branch or the state has changed
	NotApplied  Standing = "not applied" // although the pull request is merged
	Closed      Standing = "closed"      // the pull request was closed
	Superseded  Standing = "superseded"  // a newer head is planned instead
)

// A Progress is how far an apply is: changes that are done, of all changes of its plan, of which a
// replacement is two. It is zero where nothing is known.
type Progress struct{ Done, Of int }

// text returns the progress as "80 of 200 changes done", or ""; short as "80 of 200".
func (p Progress) text() string { return farText(p.Done, p.Of) }

func (p Progress) short() string {
	if p.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", p.Done, p.Of)
}

// changes are those of the plan.
func (p ProjectStatus) changes() string { return toComeText(p.Counts, p.Applyable) }

func (p ProjectStatus) plan() string {
	unmade := p.Plan == "" && p.Counts == (counting.Counts{}) && (p.Standing == NotApplied || p.Standing == Closed || p.FinishedBy != 0)
	switch {
	case p.Vain:
		return "no changes"
	case unmade:
		return "no plan"
	}
	return cmp.Or(rowOf(p.Standing).plan, p.changes()+p.with())
}

// remedy is the command for a plan that was renewed. Nobody has asked for that plan, so an apply on
// merge, which names none, is none of it.
func (p ProjectStatus) remedy() string {
	if p.ByMerge {
		return "plan"
	}
	return "apply " + markdown.PlanShort(p.Plan)
}

// Label is the name of the project for people, with its workspace where there is another one of that name.
func (p ProjectStatus) Label() string {
	if p.Workspace == "" {
		return p.Name
	}
	return fmt.Sprintf("%s (%s)", p.Name, p.Workspace)
}

// command is a command for the project, and for no other one, by its present name.
func (p ProjectStatus) command(v Verb) string {
	c := Command{Verb: v, Project: cmp.Or(p.Renamed, p.Name), Workspace: p.Workspace}
	if p.Renamed == p.Name { // it has another one
		c.Workspace = ""
	}
	return markdown.Code(c.String())
}

// planCommand is the command for a plan of all that the pull request changes in the project.
func (p ProjectStatus) planCommand() string {
	return p.command(Plan)
}

// Held reports whether a plan cannot be applied yet, because a requirement is not fulfilled.
func (p ProjectStatus) Held() bool {
	return rowOf(p.Standing).waits && p.Required != nil && !p.Required.Outcome.Allows()
}

// lacks reports whether a requirement for the apply of a plan is not fulfilled, whatever else is in its way.
func (p ProjectStatus) lacks() bool {
	return p.Held() || (p.Standing == Blocked || p.Late) && p.Required != nil && !p.Required.Outcome.Allows()
}

// Denied is the standing of a plan to which a policy or a gate of the requirements says no. It is a refinement: no record has it.
const Denied Standing = "denied"

// Further refinements, by which projects are ranked and counted.
const (
	needsApproval Standing = "needs approval" // approvals are all that is missing
	waiting       Standing = "waiting"        // time or people can fulfil what is missing
	held          Standing = "held"           // something else is missing
	locked        Standing = "locked"         // blocked by another pull request's lock alone
	inLine        Standing = "in line"        // ApplyQueued behind the applies of other pull requests
	later         Standing = "later"          // Ready behind what the merge applies
	elsewhere     Standing = "elsewhere"      // the apply of another pull request has finished it
	toDestroy     Standing = "to destroy"     // Ready, and the plan destroys the objects of a removed project
)

// denied reports whether a policy or a gate says no to a plan, whatever else is in its way.
func (p ProjectStatus) denied() bool {
	return (p.Held() || p.Standing == Blocked) && p.lacks() && p.Required.Denied()
}

// Concluded returns the standing by which check runs are coloured: Denied or Blocked for a plan whose requirements are not fulfilled, and
// the project's own for others. Where only a rule of GitHub's is in the way, GitHub itself refuses the merge.
func (p ProjectStatus) Concluded() Standing {
	switch {
	case p.denied():
		return Denied
	case p.Held() && !p.Required.LeftToGitHub():
		return Blocked
	}
	return p.Standing
}

// ranked is the standing, refined.
func (p ProjectStatus) ranked() Standing {
	switch {
	case p.FinishedBy != 0:
		return elsewhere
	case p.denied():
		return Denied
	case p.Held() && p.Required.NeedsApproval():
		return needsApproval
	case p.Held() && p.Required.MayCome():
		return waiting
	case p.Held():
		return held
	case p.Standing == Blocked && p.Locked && !p.Copied:
		return locked
	case p.Standing == Ready && p.Removed:
		return toDestroy
	case p.Standing == Ready && p.afterMerge():
		return later
	case p.Standing == ApplyQueued && len(p.Ahead) > 0:
		return inLine
	}
	return p.Standing
}

// stopper names who has stopped the plan or the apply.
func (p ProjectStatus) stopper() string {
	if p.StoppedBy == "" {
		return ""
	}
	return " by " + markdown.Code(p.StoppedBy)
}

// vain tells of the plan that has failed, or was stopped, behind the words for what stands; "" if none has.
func (p ProjectStatus) vain() string {
	with := strings.TrimPrefix(p.with(), ",")
	switch {
	case !p.Vain:
		return ""
	case p.StoppedBy != "":
		return "; the last plan" + with + " was cancelled" + p.stopper()
	}
	return "; the last plan" + with + " **failed**"
}
