package comment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
)

// A Check is the content of a project's check run: its title, and the page with summary and text.
type Check struct {
	ProjectStatus
	// Others describes another pull request with the same head commit. It is set if this check shows the
	// result of the other pull request, because that result is worse. If Merged is set, the pull request of
	// this check is merged, and the other one is open.
	Others string
	Merged bool
}

// Title returns the title of the check run, of at most limit bytes.
func (c Check) Title(limit int) string {
	title := c.title()
	if c.Others != "" {
		title += " (" + c.Others + ")"
	}
	return cutTitle(title, limit)
}

// cutTitle shortens a title to at most limit bytes.
func cutTitle(title string, limit int) string {
	if len(title) > limit {
		title = strings.ToValidUTF8(title[:limit-len("…")], "") + "…"
	}
	return title
}

func plansOf(n int) string {
	if n == 1 {
		return "1 plan"
	}
	return fmt.Sprintf("%d plans", n)
}

// crowded returns the text that n plans of the repository are queued before this one. It returns "" for 0.
func crowded(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s of this repository are queued before this one. Lockstep limits the number of plans at a time, and repositories take turns. You do not have to do anything.", plansOf(n))
}

// Summary returns the first part of the check's page, in Markdown, of at most limit bytes.
func (c Check) Summary(limit int) string {
	row := rowOf(c.Standing)
	var b strings.Builder
	b.WriteString(c.first())
	b.WriteString(c.name())
	b.WriteString(strings.TrimSuffix("\n"+c.made(), "\n"))
	say := func(text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n%s\n", strings.TrimSuffix(text, "\n"))
		}
	}
	if title := stepsTitle(c.Steps); title != "" {
		say("Steps: " + title + ".")
	}
	if c.Lock != nil {
		say(c.Lock.on([]ProjectStatus{c.ProjectStatus}))
	}
	if c.Others != "" {
		other := map[bool]string{false: "Another pull request has the same commit", true: "This pull request is merged. An open pull request has the same commit"}[c.Merged]
		end := map[bool]string{false: "worse result. Resolve that on the other pull request, or close it", true: "result of the open one"}[c.Merged]
		say(fmt.Sprintf("%s: **%s**. GitHub shows one check for both, with the %s.", other, c.Others, end))
	}
	say(c.liftedWords())
	if row.needs != nil {
		say(row.needs(c))
	}
	if c.Renamed != "" {
		say(reasons.RenamedNote(c.Label(), c.Renamed))
	}
	if row.todo != nil {
		say(row.todo(c))
	}
	if c.Whole != "" {
		say("The plan below is shortened. " + c.where())
	}
	return markdown.CutTo(b.String(), limit, "")
}

// firstMeet returns the beginning of a sentence about a plan whose requirements are not met. It says what to do
// before the apply: "Approve the pull request. Then, to apply this plan".
func (c Check) firstMeet() string {
	switch {
	case c.Required.Outcome == rulings.Unknown:
		return "Correct the cause of each requirement that is unknown. Then, to apply this plan"
	case c.ranked() == needsApproval:
		return "Approve the pull request. Then, to apply this plan"
	case c.ranked() == Denied:
		return "Change the configuration and push, or have the denial overridden. Then, to apply the plan"
	}
	return "Once the requirements are met, to apply this plan"
}

// first returns the first line of the check's page: the state of the project, and the number of planned
// changes.
func (c Check) first() string {
	text := fmt.Sprintf("%s: %s", markdown.Code(c.Label()), c.cell())
	switch plan := c.plan(); {
	case plan == "...":
	// The words of the state already contain the number of changes that were made.
	case c.Standing == ApplyFailed || c.Standing == Stopped:
		text += ". Planned: " + plan
	case c.Standing == Applied && c.Done != (counting.Counts{}):
		text += dash + madeText(c.Done)
	default:
		text += dash + plan
	}
	return text + ".\n"
}

// name returns lines with the hash of the plan, which a command must contain to name this plan. It returns ""
// if no command has to name the plan.
func (c Check) name() string {
	if !c.NamesPlan() {
		return ""
	}
	text := "\n" + markdown.PlanLine(c.Hash)
	if c.Again != "" {
		text += "\n" + markdown.PlanAgainLine(c.Again)
	}
	return text
}

// NamesPlan reports whether the check run of the project has the hash of its plan.
func (c Check) NamesPlan() bool {
	renewable := c.Hash != "" && (c.Standing == NoChanges || c.Standing == PartPlanned) // it can become another one
	return c.named() || renewable
}

// required returns the text about the requirements of the apply; "" if there are none.
func (c Check) required() string { return requiredWords(c.Required) }

// lateNeeds returns the text about the requirements for which an apply after the merge waits. It returns "" for
// any other apply.
func (c Check) lateNeeds() string {
	if !c.Late {
		return ""
	}
	return c.required()
}

// blocked returns the text about all reasons that block the apply of a plan.
func (c Check) blocked() string {
	parts := slices.Clone(c.Blockers)
	if text := c.required(); text != "" {
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n\n")
}

// unblock returns the advice on how to remove what blocks the apply.
func (c Check) unblock() string {
	if c.Behind != nil {
		return c.inOrder() + "\n\n" + c.unblocked()
	}
	return c.unblocked()
}

func (c Check) lookAgain() string {
	text := "Another pull request was applied since, and the new plan differs from the earlier one. "
	if c.ByMerge {
		text += fmt.Sprintf("The merge does not apply the new plan, because nobody has confirmed it. Comment %s, and read that plan. Then merge: the merge applies it.", c.planCommand())
	} else {
		confirm := "To confirm it"
		if c.Held() {
			confirm = "Once its requirements are met, to confirm it"
		}
		text += fmt.Sprintf("Read the new plan. %s, comment %s on the pull request.", confirm, markdown.Code("lockstep "+c.remedy()))
	}
	if c.Behind != nil {
		return c.inOrder() + "\n\n" + text
	}
	return text
}

func (c Check) goOn() string {
	return fmt.Sprintf("To continue, comment %s on the pull request. For a new plan of the rest, comment %s.", c.command(Apply), c.command(Plan))
}

func (c Check) planMerged() string {
	if c.Late {
		return lateWords
	}
	return fmt.Sprintf("To apply what was merged, comment %s on the pull request for a new plan. Read it, then apply it.", c.command(Retry))
}

// planAgain returns the advice on how to make a new plan of the project.
func (c Check) planAgain() string {
	lost := ""
	if c.Lost {
		lost = "Lockstep does not know what the apply has changed. " + lockLeft(c.command(Unlock)) + " A new plan shows what is left.\n\n"
	}
	switch {
	case c.Named != "":
		return lost + fmt.Sprintf("To plan again, comment %s.", markdown.Code("lockstep plan "+c.Named))
	case c.Landed:
		return lost + fmt.Sprintf("For a new plan of what was merged, comment %s on the pull request.", c.command(Retry))
	}
	return lost + fmt.Sprintf("To plan again, push a commit or comment %s.", c.command(Plan))
}

// toApply returns the advice on how to apply the plan, which waits for a command or for the merge.
func (c Check) toApply() string {
	switch {
	case c.Behind != nil:
		return c.inOrder()
	case c.Standing == OnMerge && c.Held() && c.Required.MayCome():
		return "To apply this plan, merge the pull request. The requirements can be met before or after the merge: Lockstep then applies the plan, if the plan is still up to date then."
	case c.Standing == OnMerge && c.Held():
		return "Meet the requirements first. Then, to apply this plan, merge the pull request. A merge before that does not apply it."
	case c.Standing == OnMerge:
		return "To apply this plan, merge the pull request."
	}
	text := fmt.Sprintf("To apply this plan, comment %s on the pull request.", c.command(Apply))
	if c.Held() {
		text = fmt.Sprintf("%s, comment %s on the pull request.", c.firstMeet(), c.command(Apply))
	}
	if c.Hash != "" {
		text += fmt.Sprintf(" To apply exactly this plan and no newer one, comment %s.", markdown.Code("lockstep apply "+markdown.PlanShort(c.Hash)))
	}
	return text
}

// Text returns the second part of the check's page, in Markdown, of at most limit bytes: the steps, and the plan, or the
// error of the plan or apply.
func (c Check) Text(limit int) string {
	where := ""
	if c.Whole != "" {
		where = c.where()
	}
	text := c.Body
	if c.Note != "" {
		text = c.Note + "\n\n" + text
	}
	steps := StepsMarkdown(c.Steps, limit/2)
	return steps + markdown.CutTo(text, limit-len(steps), where)
}
