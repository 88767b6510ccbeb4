package comment

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Standing is the state of a project in a pull request, such as planned or applied.
type Standing string

const (
	Queued      Standing = "queued" // to be planned
	Planning    Standing = "planning"
	Postponed   Standing = "postponed"    // to be planned after the apply of a former head
	Ready       Standing = "ready"        // planned, with something to do
	OnMerge     Standing = "on merge"     // planned, and the merge applies it
	OnceMerged  Standing = "once merged"  // planned, and can be applied only after the merge
	Blocked     Standing = "blocked"      // planned, and something blocks its apply
	Renewed     Standing = "renewed"      // planned again by Lockstep after another pull request was applied: an apply has to name this plan
	Previewed   Standing = "previewed"    // planned without credentials: nothing of it is applied
	PartPlanned Standing = "part planned" // planned with options that leave out what the pull request changes, and cannot be applied
	NoChanges   Standing = "no changes"
	PlanFailed  Standing = "plan failed"
	PlanStopped Standing = "plan stopped" // by a person, before it was made
	Awaiting    Standing = "awaiting"     // to be applied after other projects
	ApplyQueued Standing = "apply queued"
	Applying    Standing = "applying"
	Applied     Standing = "applied"
	PartApplied Standing = "part applied" // a plan with options that leave out what the pull request changes
	ApplyFailed Standing = "apply failed"
	Stopped     Standing = "stopped"     // applied in part, and stopped by a person
	Stale       Standing = "stale"       // the plan no longer fits: the base branch or the state has changed
	NotApplied  Standing = "not applied" // although the pull request is merged
	Closed      Standing = "closed"      // the pull request was closed
	Superseded  Standing = "superseded"  // a newer head is planned instead
)

// A Progress says how many changes of a plan an apply has made. A replacement counts as two changes. The zero
// value means that nothing is known.
type Progress struct{ Done, Of int }

// text returns the progress as "80 of 200 changes done"; "" if it is not known. short returns it as "80 of
// 200".
func (p Progress) text() string { return farText(p.Done, p.Of) }

func (p Progress) short() string {
	if p.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", p.Done, p.Of)
}

// changes returns the changes of the plan as a text.
func (p ProjectStatus) changes() string { return toComeText(p.Counts, p.Applyable) }

func (p ProjectStatus) plan() string {
	unmade := p.Hash == "" && p.Counts == (counting.Counts{}) && (p.Standing == NotApplied || p.Standing == Closed || p.FinishedBy != 0)
	switch {
	case p.Vain:
		return "no changes"
	case unmade:
		return "no plan"
	}
	return cmp.Or(rowOf(p.Standing).plan, p.changes()+p.with())
}

// remedy returns the command that a person writes to accept a plan with which Lockstep has replaced another. It
// is an apply command with the plan's name. If the merge applies the project, it is a plan command, because a
// merge names no plan.
func (p ProjectStatus) remedy() string {
	if p.ByMerge {
		return "plan"
	}
	return "apply " + markdown.PlanShort(p.Hash)
}

// Label returns the name of the project for people, with its workspace if another project has the same name:
// "net (prod)".
func (p ProjectStatus) Label() string {
	if p.Workspace == "" {
		return p.Name
	}
	return fmt.Sprintf("%s (%s)", p.Name, p.Workspace)
}

// command returns a command with the verb v for this project only, in Markdown. It contains the project's
// present name.
func (p ProjectStatus) command(v Verb) string {
	c := Command{Verb: v, Project: cmp.Or(p.Renamed, p.Name), Workspace: p.Workspace}
	if p.Renamed == p.Name { // only its workspace has changed
		c.Workspace = ""
	}
	return markdown.Code(c.String())
}

// planCommand returns the command that plans everything that the pull request changes in the project.
func (p ProjectStatus) planCommand() string {
	return p.command(Plan)
}

// Held reports whether a plan would be ready, but cannot be applied yet, because a requirement is not met.
func (p ProjectStatus) Held() bool {
	return rowOf(p.Standing).waits && p.Required != nil && !p.Required.Outcome.Allows()
}

// lacks reports whether a requirement for the apply of the plan is not met. Unlike [ProjectStatus.Held], it is
// also true for a plan that is blocked for another reason.
func (p ProjectStatus) lacks() bool {
	return p.Held() || (p.Standing == Blocked || p.Late) && p.Required != nil && !p.Required.Outcome.Allows()
}

// Denied is the standing of a plan that a policy or a gate denies. It exists only for display, and is never
// stored in a record.
const Denied Standing = "denied"

// Other standings that exist only for display. Projects are sorted and counted by them.
const (
	needsApproval Standing = "needs approval" // only approvals are missing
	waiting       Standing = "waiting"        // time or people can meet the requirements
	held          Standing = "held"           // something else is missing
	locked        Standing = "locked"         // blocked only by another pull request's lock
	inLine        Standing = "in line"        // ApplyQueued behind the applies of other pull requests
	later         Standing = "later"          // Ready, but after projects that the merge applies
	elsewhere     Standing = "elsewhere"      // the apply of another pull request has made its changes
	toDestroy     Standing = "to destroy"     // Ready, and the plan destroys the objects of a removed project
)

// denied reports whether a policy or a gate denies the plan. It does not matter whether the plan is also
// blocked for another reason.
func (p ProjectStatus) denied() bool {
	return (p.Held() || p.Standing == Blocked) && p.lacks() && p.Required.Denied()
}

// Concluded returns the standing from which the conclusion of the project's check run follows. For a plan whose
// requirements are not met, it is Denied or Blocked. Otherwise it is the project's own standing. Requirements
// that GitHub enforces itself, by refusing the merge, do not count.
func (p ProjectStatus) Concluded() Standing {
	switch {
	case p.denied():
		return Denied
	case p.Held() && !p.Required.LeftToGitHub():
		return Blocked
	}
	return p.Standing
}

// ranked returns the standing of the project for display, which may be one of [refined].
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

// stopper returns who stopped the plan or the apply, such as " by `bob`"; "" if that is not known.
func (p ProjectStatus) stopper() string {
	if p.StoppedBy == "" {
		return ""
	}
	return " by " + markdown.Code(p.StoppedBy)
}

// vain returns an addition to a project's state: "; the last plan, with -target, **failed**". It is for a
// project whose last plan failed or was cancelled, while an earlier result still counts. It returns "" for all
// other projects.
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
