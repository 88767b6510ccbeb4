package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Meaning is what a standing means for whoever waits for a project, and for its check.
type Meaning int

const (
	ToCome    Meaning = iota // it waits for its turn
	UnderWay                 // it is being planned or applied
	Well                     // nothing is wrong
	Wrong                    // a plan or an apply has failed
	Hindered                 // the plan cannot be applied as it is now
	Unsettled                // a person has to do something
	Void                     // nobody wants it any more
)

// A group has the standings that are one to a reader of the headline. It has the text where it is true of all projects, with the commit; where
// it is true of some, with their number, that of all, and the commit; and its place behind another one, for one project and for more. A
// group without texts is not counted in the headline.
type group struct {
	all, some string
	one, more string
	sum       func(planned, done counting.Counts, applyable bool) string // of the changes, nil where they do not matter
	of        []row
}

// A row is all that is told of one standing.
type row struct {
	is    Standing
	means Meaning
	// waits is set where a person or the merge can apply the plan; named where the plan has a name that people need.
	waits, named bool
	// plan stands in the place of the plan's numbers; "" has those.
	plan string
	// cell is the text in the last column of the table, and title the line of the project's check.
	cell, title func(ProjectStatus) string
	// needs is what the page of the check tells to be in the way, and todo what to do; nil for nothing. Each is a paragraph.
	needs, todo func(Check) string
}

// table has all that people read of a project by its standing: the headlines from what a reader has to see first.
var table []group

func init() { // its functions look into it
	table = []group{
		{"Lockstep could not plan %s", "Lockstep could not plan %d of %d projects of %s", "", "", nil, []row{
			{is: PlanFailed, means: Wrong, plan: "no plan", cell: always("**failed**"), title: always("Planning failed"), todo: Check.planAgain},
		}},
		{"Lockstep could not apply %s", "Lockstep could not apply %d of %d projects of %s", "was not applied", "were not applied", nil, []row{
			{is: ApplyFailed, means: Wrong, cell: failedCell, title: failedTitle, todo: Check.planAgain},
		}},
		{"The plan for %s cannot be applied now", "%d of %d plans for %s cannot be applied now", "is blocked", "are blocked", sumOfPlans, []row{
			{is: Blocked, means: Hindered, named: true, cell: always("**blocked**"), title: changesAfter("Cannot be applied now: "), needs: Check.blocked, todo: Check.unblock},
		}},
		{"The plan for %s cannot be applied yet", "%d of %d plans for %s cannot be applied yet", "cannot be applied yet", "cannot be applied yet", sumOfPlans, []row{
			{is: held, means: Hindered, cell: heldCell, title: changesAfter("Cannot be applied yet: ")},
		}},
		{"Merged, but not applied: %s", "Merged, but not applied: %d of %d projects of %s", "is merged, but not applied", "are merged, but not applied", nil, []row{
			{is: NotApplied, means: Unsettled, cell: notAppliedCell, title: notAppliedTitle, needs: Check.lateNeeds, todo: Check.planMerged},
		}},
		{"The apply of %s was stopped", "Stopped: %d of %d projects of %s", "was stopped", "were stopped", nil, []row{
			{is: Stopped, means: Unsettled, named: true, cell: stoppedCell, title: stoppedTitle, todo: Check.goOn},
		}},
		{"The plan for %s was stopped", "Planning was stopped: %d of %d projects of %s", "has no plan, as it was stopped", "have no plans, as they were stopped", nil, []row{
			{is: PlanStopped, means: Unsettled, plan: "no plan", cell: planStoppedCell, title: always("Planning was stopped"), todo: Check.planAgain},
		}},
		{"Another plan for %s", "Another plan for %d of %d projects of %s", "has another plan", "have another plan", sumOfPlans, []row{
			{is: Renewed, means: Unsettled, waits: true, named: true, cell: renewedCell, title: changesAfter("Another plan: "), needs: Check.required, todo: Check.lookAgain},
		}},
		{"Not all of %s is planned", "Not all is planned of %d of %d projects of %s", "is planned in part", "are planned in part", sumOfPlans, []row{
			{is: PartPlanned, means: Unsettled, cell: partCell, title: changesAfter("Not all is planned: ")},
		}},
		{"Lockstep has applied a part of %s", "Lockstep has applied a part of %d of %d projects of %s", "is applied in part", "are applied in part", sumOfApplies, []row{
			{is: PartApplied, means: Unsettled, cell: partAppliedCell, title: partAppliedTitle},
		}},
		{"The plan for %s is out of date", "Out of date: %d of %d plans for %s", "is out of date", "are out of date", nil, []row{
			{is: Stale, means: Unsettled, cell: always("**out of date**"), title: always("The plan is out of date"), todo: Check.planAgain},
		}},
		{"Lockstep is planning %s", "Lockstep is planning %d of %d projects of %s", "is being planned", "are being planned", nil, []row{
			{is: Queued, means: ToCome, plan: "...", cell: always("waiting to be planned"), title: planningTitle, needs: func(c Check) string { return crowded(c.Crowd) }},
			{is: Planning, means: UnderWay, plan: "...", cell: always("being planned"), title: planningTitle},
			{is: Postponed, means: ToCome, plan: "...", cell: asked("to be planned after the apply of a former head, requested"), title: planningTitle},
		}},
		{"Lockstep is applying %s", "Lockstep is applying %d of %d projects of %s", "is being applied", "are being applied", nil, []row{
			{is: Awaiting, means: ToCome, named: true, cell: awaitingCell, title: changesAfter("To be applied after others: ")},
			{is: ApplyQueued, means: ToCome, named: true, cell: queuedCell, title: changesAfter("Waiting to be applied: ")},
			{is: Applying, means: UnderWay, named: true, cell: applyingCell, title: applyingTitle},
		}},
		{"The apply of %s waits in the queue", "In the queue: %d of %d projects of %s", "waits in the queue", "wait in the queue", nil, []row{
			{is: inLine, means: ToCome, cell: queuedCell, title: inLineTitle},
		}},
		{"Plan for %s", "Plan for %d of %d projects of %s", "is planned", "are planned", sumOfPlans, []row{
			{is: Ready, means: Well, waits: true, named: true, cell: readyCell, title: changesAfter(""), needs: Check.required, todo: Check.toApply},
			{is: later, means: Well, cell: laterCell, title: changesAfter("")},
			{is: OnMerge, means: Well, waits: true, named: true, cell: always("will be applied on merge"), title: changesAfter(""), needs: Check.required, todo: Check.toApply},
			{is: OnceMerged, means: Well, waits: true, named: true, cell: always("to be applied after the merge"), title: changesAfter(""), needs: Check.required, todo: func(c Check) string { return c.onceMerged() }},
		}},
		{"Plan without credentials for %s", "Plan without credentials for %d of %d projects of %s", "is planned without credentials", "are planned without credentials", sumOfPlans, []row{
			{is: Previewed, means: Well, cell: always("planned without credentials, from a snapshot of the state"), title: changesAfter("Without credentials: ")},
		}},
		{"Closed, not applied: %s", "Closed, not applied: %d of %d projects of %s", "is not applied", "are not applied", nil, []row{
			{is: Closed, means: Void, cell: closedCell, title: closedTitle},
		}},
		{"What %s has merged is applied", "Applied by other pull requests: %d of %d projects of %s", "is applied by another pull request", "are applied by other pull requests", nil, []row{
			{is: elsewhere, means: Well, cell: elsewhereCell, title: elsewhereTitle},
		}},
		{"Lockstep has applied %s", "Lockstep has applied %d of %d projects of %s", "is applied", "are applied", sumOfApplies, []row{
			{is: Applied, means: Well, cell: asked("applied"), title: func(p ProjectStatus) string { return "Applied: " + madeText(p.Done) }},
		}},
		{of: []row{
			{is: NoChanges, means: Well, cell: func(p ProjectStatus) string { return "nothing to do" + p.vain() }, title: noChangesTitle},
			{is: Superseded, means: Void, plan: "...", cell: supersededCell, title: supersededTitle},
		}},
	}
}

// rowOf is the row of a standing. That there is none is our bug, and panics.
func rowOf(s Standing) row {
	for _, g := range table {
		for _, r := range g.of {
			if r.is == s {
				return r
			}
		}
	}
	panic(fmt.Sprintf("comment: there is no standing %q", s))
}

// standings are those of a group.
func (g group) standings() (out []Standing) {
	for _, r := range g.of {
		out = append(out, r.is)
	}
	return out
}

// refined are the standings that only readers tell apart: see [ProjectStatus.ranked].
var refined = []Standing{held, later, inLine, elsewhere}

// Standings returns all standings that a project can have.
func Standings() (out []Standing) {
	for _, g := range table {
		for _, r := range g.of {
			if !slices.Contains(refined, r.is) {
				out = append(out, r.is)
			}
		}
	}
	return out
}

// Means returns what a standing means.
func (s Standing) Means() Meaning { return rowOf(s).means }

// cell returns the text of the table's last column.
func (p ProjectStatus) cell() string { return rowOf(p.ranked()).cell(p) + p.Behind.cell() }

// calm is lower for a project that needs a person's attention more: 0 for a failure, 1 for what
// cannot go on by itself, and 2 for others.
func (s Standing) calm() int {
	switch s.Means() {
	case Wrong:
		return 0
	case Hindered, Unsettled:
		return 1
	}
	return 2
}

// by names who has asked for the apply.
func (p ProjectStatus) by() string {
	if p.By == "" {
		return ""
	}
	return " by " + markdown.Code(p.By)
}

func always(text string) func(ProjectStatus) string {
	return func(ProjectStatus) string { return text }
}

// asked is a text with the person who has asked.
func asked(text string) func(ProjectStatus) string {
	return func(p ProjectStatus) string { return text + p.by() }
}

// changesAfter is a text with the plan's changes, and the names of its options.
func changesAfter(text string) func(ProjectStatus) string {
	return func(p ProjectStatus) string { return text + p.changes() + p.with() }
}

func planningTitle(p ProjectStatus) string {
	if p.Crowd > 0 {
		return fmt.Sprintf("Queued behind %s", plansOf(p.Crowd))
	}
	return "Planning"
}

func heldCell(p ProjectStatus) string {
	const waits = "**waits** for what is missing"
	switch {
	case p.Standing == Renewed:
		return "**another plan** than before, " + waits + ", then for " + markdown.Code("lockstep "+p.remedy())
	case p.Standing == OnMerge:
		return waits + ", then for the merge"
	case p.Standing == OnceMerged:
		return waits + ", to be applied after the merge"
	case p.Removed:
		return waits + ", then for " + p.command(Apply)
	}
	return waits
}

func readyCell(p ProjectStatus) string {
	if p.Removed {
		return "is removed, waits for " + p.command(Apply)
	}
	return "waits for " + markdown.Code("lockstep apply")
}

func laterCell(p ProjectStatus) string {
	if p.Removed {
		return readyCell(p)
	}
	return "waits for the merge"
}

func renewedCell(p ProjectStatus) string {
	return "**another plan** than before, waits for " + markdown.Code("lockstep "+p.remedy())
}

func partCell(p ProjectStatus) string {
	return "**not all is planned**, " + waitsForRest(p.Doubts, p.planCommand())
}

func partAppliedCell(p ProjectStatus) string { return "applied" + p.by() + ", " + partCell(p) }

func partAppliedTitle(p ProjectStatus) string {
	return "Applied in part: " + madeText(p.Done) + p.with()
}

func elsewhereCell(p ProjectStatus) string {
	return fmt.Sprintf("applied by the apply of #%d", p.FinishedBy)
}

func elsewhereTitle(p ProjectStatus) string {
	return fmt.Sprintf("Applied by the apply of #%d", p.FinishedBy)
}

func noChangesTitle(p ProjectStatus) string {
	if p.Vain {
		return "Nothing to do" + strings.NewReplacer("*", "", "`", "").Replace(p.vain())
	}
	return "No changes" + p.with()
}

func planStoppedCell(p ProjectStatus) string { return "**stopped**" + p.stopper() }

func awaitingCell(p ProjectStatus) string {
	return "to be applied after " + markdown.List(p.After) + ", requested" + p.by()
}

func queuedCell(p ProjectStatus) string {
	return "waiting to be applied, requested" + p.by() + p.behind()
}

func inLineTitle(p ProjectStatus) string {
	return "In the queue behind " + turnPulls(p.Ahead) + ": " + p.changes() + p.with()
}

func applyingCell(p ProjectStatus) string {
	if far := p.Progress.text(); far != "" {
		return "being applied" + p.by() + ": " + far
	}
	return "being applied" + p.by()
}

func applyingTitle(p ProjectStatus) string {
	title := "Applying: " + p.changes() + p.with()
	if far := p.Progress.text(); far != "" {
		title += "; " + far
	}
	return title
}

func stoppedCell(p ProjectStatus) string {
	return "**stopped**" + p.stopper() + ", applied" + p.by() + ": " + p.Progress.text()
}

func stoppedTitle(p ProjectStatus) string { return "Stopped: " + p.Progress.text() }

func failedCell(p ProjectStatus) string {
	text := "**failed**, applied" + p.by()
	switch {
	case p.Lost:
		return text + ": it did not finish"
	case p.Remaining > 0:
		return fmt.Sprintf("%s; %s not begun", text, changes(p.Remaining))
	}
	return text
}

func failedTitle(p ProjectStatus) string {
	title := "The apply failed: " + madeText(p.Done)
	if p.Lost {
		title = "The apply failed: it did not finish"
	}
	if p.Remaining > 0 {
		title += fmt.Sprintf("; %s not begun", changes(p.Remaining))
	}
	return title
}

func notAppliedCell(p ProjectStatus) string {
	switch {
	case p.lacks():
		return "**not applied** yet, waits for what is missing"
	case p.Late:
		return "**not applied** yet"
	}
	return "**not applied**"
}

func notAppliedTitle(p ProjectStatus) string {
	if p.Late {
		return "Merged, but not applied yet: " + p.changes() + p.with()
	}
	return "Merged, but not applied"
}

func closedCell(p ProjectStatus) string {
	if p.Left {
		return "dropped, not applied"
	}
	return "closed, not applied"
}

func closedTitle(p ProjectStatus) string {
	if p.Left {
		return "The plan was dropped"
	}
	return "Closed, not applied"
}

func supersededCell(p ProjectStatus) string {
	switch {
	case p.Gone:
		return "removed by the base branch"
	case p.Renamed == p.Name:
		return "has another workspace now"
	case p.Renamed != "":
		return "is " + markdown.Code(p.Renamed) + " now"
	}
	return "superseded by a newer head"
}

func supersededTitle(p ProjectStatus) string {
	switch {
	case p.Renamed == p.Name:
		return "The project has another workspace now"
	case p.Renamed != "":
		return "The project is " + p.Renamed + " now"
	case p.Gone:
		return "The base branch has removed the project"
	}
	return "Superseded by a newer head"
}
