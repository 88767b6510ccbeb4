package comment

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
)

// A Message is a chat message about the plans and applies of a pull request. It has their results.
type Message struct {
	Repo     string // OWNER/NAME
	Number   int    // number of the pull request or the issue; 0 for none
	URL      string // of the pull request or the issue
	Outcomes []Outcome
}

// An Outcome is the result of the plan or the apply of one project.
type Outcome struct {
	Project  string
	Standing Standing // Planned, Applied or another one at rest
	Actor    string   `json:",omitempty"` // login; "" for a push
	Counts   counting.Counts
	// Found is what a look has found, as [DriftFound] says it. It is "" for the result of a plan or an apply.
	Found string `json:",omitempty"`
}

// DriftOver says that a look has found no drift any more.
const DriftOver = "no drift any more"

// DriftFound says how many objects a look has found changed.
func DriftFound(objects int) string {
	return fmt.Sprintf("*drift*%s%s outside of Lockstep", dash, counted(objects, "object changed", "objects changed"))
}

// OutOfDate says what a plan has found after the apply of another project.
func OutOfDate(c counting.Counts) string { return "*out of date*" + dash + toComeText(c, true) }

// mostNews is the maximum number of results that a message lists.
const mostNews = 30

// Slack returns the message in Slack's notation. It notifies no person by name.
// Source: https://docs.slack.dev/messaging/formatting-message-text (escaping text)
func (m Message) Slack() string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%s*", slacked(m.Repo))
	if m.Number != 0 {
		fmt.Fprintf(&b, " <%s|#%d>", slacked(m.URL), m.Number)
	}
	for _, o := range m.Outcomes[:min(len(m.Outcomes), mostNews)] {
		fmt.Fprintf(&b, "\n• *%s*: %s", slacked(o.Project), o.words())
		if o.Actor != "" {
			fmt.Fprintf(&b, " (%s)", slacked(o.Actor))
		}
	}
	if more := len(m.Outcomes) - mostNews; more > 0 {
		fmt.Fprintf(&b, "\n• and %d more", more)
	}
	return b.String()
}

// Text returns the result as one line of plain text.
func (o Outcome) Text() string {
	return o.Project + ": " + strings.ReplaceAll(o.words(), "*", "")
}

func (o Outcome) words() string {
	if o.Found != "" {
		return o.Found
	}
	planned := dash + toComeText(o.Counts, o.Standing != NoChanges)
	switch o.Standing {
	case Applying:
		return "applying"
	case PlanFailed:
		return "*failed to plan*"
	case PlanStopped, Stopped:
		return "cancelled"
	case Applied:
		return "applied" + dash + madeText(o.Counts)
	case PartApplied:
		return "partly applied" + dash + madeText(o.Counts)
	case ApplyFailed:
		return "*failed to apply*" + dash + madeText(o.Counts)
	case NotApplied:
		if o.Counts == (counting.Counts{}) {
			return "*merged, not applied*"
		}
		return "*merged, not applied*" + planned
	case NoChanges:
		return "up to date"
	}
	return "planned" + planned
}

// slacked escapes a text, so that Slack shows it unchanged, without markup and mentions.
func slacked(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "*", "∗", "`", "'", "\n", " ").Replace(text)
}
