package comment

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/internal/sums"
	"github.com/lockstep-iac/lockstep/functions/comment/internal/turns"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/planname"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// A Check is the content of a project's check run: one line, and a page behind it.
type Check struct {
	ProjectStatus
	// Others names another pull request with the same head that is worse off there; or, if Merged is set, one that is open, while
	// that of the check is merged.
	Others string
	Merged bool
}

// Title returns the line, of at most limit bytes.
func (c Check) Title(limit int) string {
	title := ""
	switch c.ranked() {
	case held:
		title = "Cannot be applied yet: " + c.changes() + c.with()
	case Queued, Planning, Postponed:
		title = "Planning"
		if c.Crowd > 0 {
			title = fmt.Sprintf("Queued behind %s", plansOf(c.Crowd))
		}
	case Ready, later, OnMerge, OnceMerged:
		title = c.changes() + c.with()
	case Blocked:
		title = "Cannot be applied now: " + c.changes() + c.with()
	case Renewed:
		title = "Another plan: " + c.changes() + c.with()
	case Previewed:
		title = "Without credentials: " + c.changes() + c.with()
	case PartPlanned:
		title = "Not all is planned: " + c.changes() + c.with()
	case elsewhere:
		title = fmt.Sprintf("Applied by the apply of #%d", c.FinishedBy)
	case NoChanges:
		title = "No changes" + c.with()
		if c.Vain {
			title = "Nothing to do" + strings.NewReplacer("*", "", "`", "").Replace(c.vain())
		}
	case PlanFailed:
		title = "Planning failed"
	case PlanStopped:
		title = "Planning was stopped"
	case Awaiting:
		title = "To be applied after others: " + c.changes() + c.with()
	case ApplyQueued:
		title = "Waiting to be applied: " + c.changes() + c.with()
	case inLine:
		title = "In the queue behind " + turns.Pulls(c.Ahead) + ": " + c.changes() + c.with()
	case Applying:
		title = "Applying: " + c.changes() + c.with()
		if far := c.Progress.text(); far != "" {
			title += "; " + far
		}
	case Stopped:
		title = "Stopped: " + c.Progress.text()
	case Applied:
		title = "Applied: " + sums.Made(c.Done)
	case PartApplied:
		title = "Applied in part: " + sums.Made(c.Done) + c.with()
	case ApplyFailed:
		title = "The apply failed: " + sums.Made(c.Done)
		if c.Lost {
			title = "The apply failed: it did not finish"
		}
		if c.Remaining > 0 {
			title += fmt.Sprintf("; %s not begun", changes(c.Remaining))
		}
	case Stale:
		title = "The plan is out of date"
	case NotApplied:
		title = "Merged, but not applied"
		if c.Late {
			title = "Merged, but not applied yet: " + c.changes() + c.with()
		}
	case Closed:
		title = "Closed, not applied"
		if c.Left {
			title = "The plan was dropped"
		}
	case Superseded:
		title = "Superseded by a newer head"
		if c.Gone {
			title = "The base branch has removed the project"
		}
		if c.Renamed != "" {
			title = "The project is " + c.Renamed + " now"
		}
		if c.Renamed == c.Name {
			title = "The project has another workspace now"
		}
	default:
		panic(fmt.Sprintf("comment: there is no standing %q", c.Standing))
	}
	if c.Others != "" {
		title += " (" + c.Others + ")"
	}
	if len(title) > limit { // only numbers and our own words
		title = title[:limit]
	}
	return title
}

func plansOf(n int) string {
	if n == 1 {
		return "1 plan"
	}
	return fmt.Sprintf("%d plans", n)
}

// crowded tells of the plans of the repository that hold up others; "" if there are none.
func crowded(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("\n%s of this repository were queued before this one. Lockstep makes a limited number of plans at a time, and repositories take turns. You need not do anything: the plan follows.\n", plansOf(n))
}

// Summary returns the page's first part, of at most limit bytes, in Markdown.
func (c Check) Summary(limit int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s.\n", markdown.Code(c.Label()), c.plan(), c.standing())
	if c.named() || c.Plan != "" && (c.Standing == NoChanges || c.Standing == PartPlanned) { // it can become another one
		b.WriteString("\n" + planname.Line(c.Plan))
		if c.Again != "" {
			b.WriteString("\n" + planname.AgainLine(c.Again))
		}
	}
	b.WriteString(strings.TrimSuffix("\n"+c.made(), "\n"))
	if c.Lock != nil {
		fmt.Fprintf(&b, "\n%s\n", c.Lock.on([]ProjectStatus{c.ProjectStatus}))
	}
	if c.Others != "" {
		other := map[bool]string{false: "Another pull request with the same head is worse off", true: "The pull request is merged, and another one with the same head is open"}[c.Merged]
		fmt.Fprintf(&b, "\n%s: %s. A check belongs to a commit, so it reports this for both.\n", other, c.Others)
	}
	if text := c.liftedWords(); text != "" {
		b.WriteString("\n" + text)
	}
	switch c.Standing {
	case Queued:
		b.WriteString(crowded(c.Crowd))
	case NotApplied:
		if text := requiredWords(c.Required); c.Late && text != "" {
			b.WriteString("\n" + text)
		}
	case Blocked:
		for _, why := range c.Blockers {
			fmt.Fprintf(&b, "\n%s\n", why)
		}
		fallthrough
	case Ready, OnMerge, OnceMerged, Renewed:
		if text := requiredWords(c.Required); text != "" {
			b.WriteString("\n" + text)
		}
	}
	if c.Renamed != "" {
		fmt.Fprintf(&b, "\n%s\n", reasons.RenamedNote(c.Label(), c.Renamed))
	}
	switch c.Standing {
	case Ready, OnMerge:
		fmt.Fprintf(&b, "\n%s\n", c.toApply())
	case OnceMerged:
		fmt.Fprintf(&b, "\n%s\n", c.onceMerged())
	case Blocked:
		if c.Behind != nil {
			fmt.Fprintf(&b, "\n%s\n", c.inOrder())
		}
		fmt.Fprintf(&b, "\n%s\n", c.unblocked())
	case Renewed:
		if c.Behind != nil {
			fmt.Fprintf(&b, "\n%s\n", c.inOrder())
		}
		fmt.Fprintf(&b, "\nAnother pull request was applied since the plan before, and this one differs from it. Look at it, and comment %s on the pull request.\n", markdown.Code("lockstep "+c.remedy()))
	case Stopped:
		fmt.Fprintf(&b, "\nTo go on, comment %s on the pull request; for a new plan of the rest, %s.\n", c.command(Apply), c.command(Plan))
	case NotApplied:
		if c.Late {
			fmt.Fprintf(&b, "\n%s\n", lateWords)
			break
		}
		fmt.Fprintf(&b, "\nFor a plan of what was merged, comment %s on the pull request.\n", c.command(Plan))
	case PlanFailed, PlanStopped, Stale, ApplyFailed:
		if c.Lost {
			fmt.Fprintf(&b, "\n%s\n", lockLeft(c.command(Unlock)))
		}
		if c.Named != "" {
			fmt.Fprintf(&b, "\nTo plan again, comment %s.\n", markdown.Code("lockstep plan "+c.Named))
			break
		}
		if c.Landed {
			fmt.Fprintf(&b, "\nFor a new plan of what was merged, comment %s on the pull request.\n", c.command(Plan))
			break
		}
		fmt.Fprintf(&b, "\nTo plan again, push, or comment %s.\n", c.command(Plan))
	}
	if c.Whole != "" {
		fmt.Fprintf(&b, "\nThe text below is shortened. %s\n", c.where())
	}
	return markdown.CutTo(b.String(), limit, "")
}

// toApply tells how a plan is applied that waits for a command, or for the merge.
func (c Check) toApply() string {
	switch {
	case c.Behind != nil:
		return c.inOrder()
	case c.Standing == OnMerge && c.Held() && c.Required.MayCome():
		return "When that is fulfilled, before the merge or after it, merging the pull request applies this plan, if it still fits the base branch then."
	case c.Standing == OnMerge && c.Held():
		return "When that is fulfilled, merging the pull request applies this plan. A merge before that does not."
	case c.Standing == OnMerge:
		return "Merging the pull request applies this plan."
	}
	text := fmt.Sprintf("To apply this plan, comment %s on the pull request.", c.command(Apply))
	if c.Held() {
		text = fmt.Sprintf("When that is fulfilled, to apply this plan, comment %s on the pull request.", c.command(Apply))
	}
	if c.Plan != "" {
		text += fmt.Sprintf(" %s applies this plan, and no other.", markdown.Code("lockstep apply "+planname.Short(c.Plan)))
	}
	return text
}

// Text returns the page's second part, of at most limit bytes, in Markdown: the plan, or the
// failure.
func (c Check) Text(limit int) string {
	where := ""
	if c.Whole != "" {
		where = c.where()
	}
	text := c.Body
	if c.Note != "" {
		text = c.Note + "\n\n" + text
	}
	return markdown.CutTo(text, limit, where)
}
