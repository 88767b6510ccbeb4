package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Meaning says whether a standing is good or bad for the project, and so the conclusion of the project's
// check. Only Wrong and Disallowed make the check fail.
type Meaning int

const (
	ToCome     Meaning = iota // it waits for its turn
	UnderWay                  // it is being planned or applied
	Well                      // nothing is wrong
	Wrong                     // a plan or an apply has failed
	Disallowed                // a policy or a gate denies it
	Unsettled                 // a person has to do something
	Void                      // it is no longer needed
)

// A state is the word that readers see for one or several similar standings. Its text differs by number: "needs
// approval" for one project, "need approval" for several.
type state struct {
	one, more string
	// sum returns the number of changes, which the title and the headline show after the words of the state. It
	// is nil if they show no number.
	sum func(planned, done counting.Counts, applyable bool) string
	of  []row
}

// A row has all texts for one standing.
type row struct {
	is    Standing
	means Meaning
	// waits is set if the plan waits for a person or the merge, which can apply it. named is set if the comment
	// shows the plan's name, because people need it in commands.
	waits, named bool
	// plan is a text that is shown instead of the number of planned changes; "" shows the number.
	plan string
	// cell is the text in the last column of the table, in Markdown. It begins with the words of the state. It
	// must not contain a colon, because it is also part of the check's title, and of the headline for a pull
	// request with one project.
	cell func(ProjectStatus) string
	// needs and todo return paragraphs for the check's page: needs says what blocks the apply, and todo says
	// what to do. Both may be nil: then the page has no such paragraph.
	needs, todo func(Check) string
}

// states are all words for the state of a project, in the order of the headline. No other words are used for it
// in the headline, the table, and the check's title and page.
var states []state

func init() { // its functions look into it
	states = []state{
		{"failed to apply", "failed to apply", nil, []row{
			{is: ApplyFailed, means: Wrong, cell: failedCell, todo: Check.planAgain},
		}},
		{"failed to plan", "failed to plan", nil, []row{
			{is: PlanFailed, means: Wrong, plan: "no plan", cell: always("**failed to plan**"), todo: Check.planAgain},
		}},
		{"denied", "denied", sumOfPlans, []row{
			{is: Denied, means: Disallowed, cell: deniedCell},
		}},
		{"needs approval", "need approval", sumOfPlans, []row{
			{is: needsApproval, means: Unsettled, cell: heldCell(always("**needs approval**"))},
		}},
		{"locked by another pull request", "locked by other pull requests", sumOfPlans, []row{
			{is: locked, means: Unsettled, cell: lockedCell},
		}},
		{"blocked", "blocked", sumOfPlans, []row{
			{is: Blocked, means: Unsettled, named: true, cell: blockedCell, needs: Check.blocked, todo: Check.unblock},
			{is: held, means: Unsettled, cell: heldCell(missingCell("**blocked** by ", true))},
		}},
		{"waiting for a requirement", "waiting for requirements", sumOfPlans, []row{
			{is: waiting, means: Unsettled, cell: heldCell(missingCell("**waiting** for ", false))},
		}},
		{"merged, not applied", "merged, not applied", nil, []row{
			{is: NotApplied, means: Unsettled, cell: notAppliedCell, needs: Check.lateNeeds, todo: Check.planMerged},
		}},
		{"cancelled", "cancelled", nil, []row{
			{is: Stopped, means: Unsettled, named: true, cell: stoppedCell, todo: Check.goOn},
			{is: PlanStopped, means: Unsettled, plan: "no plan", cell: planStoppedCell, todo: Check.planAgain},
		}},
		{"has a new plan", "have new plans", sumOfPlans, []row{
			{is: Renewed, means: Unsettled, waits: true, named: true, cell: renewedCell, needs: Check.required, todo: Check.lookAgain},
		}},
		{"partly planned", "partly planned", sumOfPlans, []row{
			{is: PartPlanned, means: Unsettled, cell: partCell("**partly planned**")},
		}},
		{"partly applied", "partly applied", sumOfApplies, []row{
			{is: PartApplied, means: Unsettled, cell: partCell("**partly applied**")},
		}},
		{"out of date", "out of date", nil, []row{
			{is: Stale, means: Unsettled, cell: always("**out of date**"), todo: Check.planAgain},
		}},
		{"planning", "planning", nil, []row{
			{is: Queued, means: ToCome, plan: "...", cell: planQueuedCell, needs: func(c Check) string { return crowded(c.Crowd) }},
			{is: Planning, means: UnderWay, plan: "...", cell: planningCell, needs: func(c Check) string { return c.Ongoing.text() }},
			{is: Postponed, means: ToCome, plan: "...", cell: always("queued for planning, after the apply of an earlier commit")},
		}},
		{"applying", "applying", sumOfPlans, []row{
			{is: Awaiting, means: ToCome, named: true, cell: awaitingCell},
			{is: ApplyQueued, means: ToCome, named: true, cell: queuedCell},
			{is: Applying, means: UnderWay, named: true, cell: applyingCell, needs: func(c Check) string { return c.Ongoing.text() }},
		}},
		{"queued", "queued", sumOfPlans, []row{
			{is: inLine, means: ToCome, cell: queuedCell},
		}},
		{"ready to apply", "ready to apply", sumOfPlans, []row{
			{is: Ready, means: Well, waits: true, named: true, cell: always("ready to apply"), needs: Check.required, todo: Check.toApply},
		}},
		{"ready to destroy", "ready to destroy", sumOfPlans, []row{
			{is: toDestroy, means: Well, cell: func(p ProjectStatus) string { return "ready to destroy with " + p.command(Apply) }},
		}},
		{"applies on merge", "apply on merge", sumOfPlans, []row{
			{is: OnMerge, means: Well, waits: true, named: true, cell: always("applies on merge"), needs: Check.required, todo: Check.toApply},
		}},
		{"ready to apply after the merge", "ready to apply after the merge", sumOfPlans, []row{
			{is: later, means: Well, cell: always("ready to apply after the merge")},
			{is: OnceMerged, means: Well, waits: true, named: true, cell: always("ready to apply after the merge"), needs: Check.required, todo: func(c Check) string { return c.onceMerged() }},
		}},
		{"previewed without credentials", "previewed without credentials", sumOfPlans, []row{
			{is: Previewed, means: Well, cell: always("previewed without credentials, from a snapshot of the state")},
		}},
		{"closed, not applied", "closed, not applied", nil, []row{
			{is: Closed, means: Void, cell: closedCell},
		}},
		{"applied by another pull request", "applied by other pull requests", nil, []row{
			{is: elsewhere, means: Well, cell: elsewhereCell},
		}},
		{"applied", "applied", sumOfApplies, []row{
			{is: Applied, means: Well, cell: func(p ProjectStatus) string { return "applied" + p.by() }},
		}},
		{"up to date", "up to date", nil, []row{
			{is: NoChanges, means: Well, cell: func(p ProjectStatus) string { return "up to date" + p.vain() }},
		}},
		{"superseded", "superseded", nil, []row{
			{is: Superseded, means: Void, plan: "...", cell: supersededCell},
		}},
	}
}

// rowOf returns the row of a standing. It panics if there is none, because that is a bug of Lockstep.
func rowOf(s Standing) row {
	for _, g := range states {
		for _, r := range g.of {
			if r.is == s {
				return r
			}
		}
	}
	panic(fmt.Sprintf("comment: there is no standing %q", s))
}

// standings returns the standings that have the words of this state.
func (g state) standings() (out []Standing) {
	for _, r := range g.of {
		out = append(out, r.is)
	}
	return out
}

// refined are the standings that exist only for display: see [ProjectStatus.ranked]. They are never stored.
var refined = []Standing{Denied, needsApproval, locked, held, waiting, later, inLine, elsewhere, toDestroy}

// Standings returns the standings that a record of a project can have. Those that exist only for display are
// left out.
func Standings() (out []Standing) {
	for _, g := range states {
		for _, r := range g.of {
			if !slices.Contains(refined, r.is) {
				out = append(out, r.is)
			}
		}
	}
	return out
}

// Means returns the meaning of a standing.
func (s Standing) Means() Meaning { return rowOf(s).means }

// Means returns the meaning of the project's standing for display: see [ProjectStatus.ranked].
func (p ProjectStatus) Means() Meaning { return rowOf(p.ranked()).means }

// cell returns the text in the last column of the project's row.
func (p ProjectStatus) cell() string { return rowOf(p.ranked()).cell(p) + p.Behind.cell() }

// state returns the words of the project's state and the number of its changes. The words are Markdown, and
// shown converts them.
func (p ProjectStatus) state(shown func(cell string) string) string {
	is := p.ranked()
	i := slices.IndexFunc(states, func(x state) bool { return slices.Contains(x.standings(), is) })
	text := shown(rowOf(is).cell(p))
	if sum := states[i].sum; sum != nil {
		text += dash + sum(p.Counts, p.Done, p.Applyable) + p.with()
	}
	return text
}

// title returns the title of the project's check. It leaves out the user who requested the apply, to be short.
func (p ProjectStatus) title() string {
	p.By = ""
	text := p.state(plainly)
	return strings.ToUpper(text[:1]) + text[1:]
}

// State returns the state of the project as plain text, without the number of changes. It is for the pages of
// lockstep serve.
func (p ProjectStatus) State() string {
	p.By = ""
	return plainly(rowOf(p.ranked()).cell(p))
}

// dash is the text between the words of a state and the number of changes.
const dash = " – "

// plainly removes the Markdown from one of Lockstep's own texts, for places that show plain text.
func plainly(text string) string { return strings.NewReplacer("*", "", "`", "").Replace(text) }

// calm returns 0 for a failure or a denial, 1 if a person has to act, and 2 for all other standings. So the
// projects that need the most attention have the lowest number.
func (s Standing) calm() int {
	switch s.Means() {
	case Wrong, Disallowed:
		return 0
	case Unsettled:
		return 1
	}
	return 2
}

// by returns who has applied the plan, such as " by `bob`". requested returns who has requested the apply: ",
// requested by `bob`".
func (p ProjectStatus) by() string {
	if p.By == "" {
		return ""
	}
	return " by " + markdown.Code(p.By)
}

func (p ProjectStatus) requested() string {
	if p.By == "" {
		return ""
	}
	return ", requested by " + markdown.Code(p.By)
}

func always(text string) func(ProjectStatus) string {
	return func(ProjectStatus) string { return text }
}

func deniedCell(p ProjectStatus) string {
	return "**denied** by " + strings.Join(p.Required.DeniedBy(), ", ")
}

func lockedCell(p ProjectStatus) string { return fmt.Sprintf("**locked by #%d**", p.LockedBy) }

func blockedCell(p ProjectStatus) string {
	switch {
	case p.Copied:
		return "**blocked** by a copy of its state"
	case p.BlockedBy != 0:
		return fmt.Sprintf("**blocked** by #%d, which is applied and not merged", p.BlockedBy)
	}
	return "**blocked**"
}

// missingCell returns a function for the text of a cell: word, and a list of the requirements that are not met.
// settled selects them, as in [rulings.Ruling.Missing].
func missingCell(word string, settled bool) func(ProjectStatus) string {
	return func(p ProjectStatus) string {
		names := p.Required.Missing(settled)
		if len(names) == 0 {
			names = []string{"a requirement"}
		}
		return word + strings.Join(names, ", ")
	}
}

// heldCell returns a function for the cell of a plan whose requirements are not met. The cell says what is
// missing, as lacks returns it, and then what to do.
func heldCell(lacks func(ProjectStatus) string) func(ProjectStatus) string {
	return func(p ProjectStatus) string {
		text := lacks(p)
		switch {
		case p.Standing == Renewed:
			return text + ", and " + strings.ReplaceAll(renewedCell(p), "**", "")
		case p.Standing == OnMerge:
			return text + ", then applies on merge"
		case p.Standing == OnceMerged:
			return text + ", to apply after the merge"
		case p.Removed:
			return text + ", to destroy with " + p.command(Apply)
		}
		return text
	}
}

func renewedCell(p ProjectStatus) string {
	if p.ByMerge {
		return "**has a new plan**, which the merge does not apply"
	}
	return "**has a new plan**, to confirm with " + markdown.Code("lockstep "+p.remedy())
}

func partCell(word string) func(ProjectStatus) string {
	return func(p ProjectStatus) string {
		return word + ", " + waitsForRest(p.Doubts, p.planCommand())
	}
}

func elsewhereCell(p ProjectStatus) string { return fmt.Sprintf("applied by #%d", p.FinishedBy) }

func planQueuedCell(p ProjectStatus) string {
	if p.Crowd > 0 {
		return "queued for planning, behind " + plansOf(p.Crowd)
	}
	return "queued for planning"
}

func planningCell(p ProjectStatus) string {
	if far := p.Ongoing.short(); far != "" {
		return fmt.Sprintf("planning (%s)", far)
	}
	return "planning"
}

func planStoppedCell(p ProjectStatus) string { return "**cancelled**" + p.stopper() }

func awaitingCell(p ProjectStatus) string {
	return "waiting for " + markdown.List(p.After) + p.requested()
}

func queuedCell(p ProjectStatus) string { return "queued" + p.behind() + p.requested() }

func applyingCell(p ProjectStatus) string {
	if far := p.Progress.short(); far != "" {
		return fmt.Sprintf("applying (%s)%s", far, p.requested())
	}
	return "applying" + p.requested()
}

func stoppedCell(p ProjectStatus) string {
	text := "**cancelled**" + p.stopper()
	if far := p.Progress.text(); far != "" {
		text += fmt.Sprintf(" (%s)", far)
	}
	if p.By != "" {
		text += ", apply" + strings.TrimPrefix(p.requested(), ",")
	}
	return text
}

func failedCell(p ProjectStatus) string {
	what := madeText(p.Done) + " before the failure"
	switch {
	case p.Lost:
		what = "ended without a result"
	case p.Done == (counting.Counts{}):
		what = "nothing changed"
	}
	if p.Remaining > 0 {
		what += fmt.Sprintf("; %s not started", changes(p.Remaining))
	}
	return fmt.Sprintf("**failed to apply** (%s)%s", what, p.requested())
}

func notAppliedCell(p ProjectStatus) string {
	const text = "**merged, not applied**"
	switch {
	case p.lacks():
		return text + missingCell(", waiting for ", false)(p)
	case p.Late:
		return text + " yet"
	}
	return text
}

func closedCell(p ProjectStatus) string {
	if p.Left {
		return "plan dropped, not applied"
	}
	return "closed, not applied"
}

func supersededCell(p ProjectStatus) string {
	switch {
	case p.Gone:
		return "superseded, as the base branch has removed the project"
	case p.Renamed == p.Name:
		return "superseded, as the project has another workspace now"
	case p.Renamed != "":
		return "superseded, as the project is " + markdown.Code(p.Renamed) + " now"
	}
	return "superseded by a newer commit"
}
