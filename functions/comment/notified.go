package comment

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/internal/sums"
)

// Notified are outcomes of plans and applies of a pull request, as people are told of them elsewhere.
type Notified struct {
	Repo     string // OWNER/NAME
	Number   int
	URL      string // of the pull request
	Outcomes []NotifiedOutcome
}

// A NotifiedOutcome is one of them.
type NotifiedOutcome struct {
	Project  string
	Standing Standing // Planned, Applied or another one at rest
	Actor    string   // login; "" for a push
	Counts   counting.Counts
}

// maxNotified is the number of outcomes that are told one by one.
const maxNotified = 30

// Slack returns them in Slack's notation, in which nobody is mentioned.
// Source: https://docs.slack.dev/messaging/formatting-message-text (escaping text)
func (n Notified) Slack() string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%s* <%s|#%d>", slacked(n.Repo), slacked(n.URL), n.Number)
	for _, o := range n.Outcomes[:min(len(n.Outcomes), maxNotified)] {
		fmt.Fprintf(&b, "\n• *%s*: %s", slacked(o.Project), o.words())
		if o.Actor != "" {
			fmt.Fprintf(&b, " (%s)", slacked(o.Actor))
		}
	}
	if more := len(n.Outcomes) - maxNotified; more > 0 {
		fmt.Fprintf(&b, "\n• and %d more", more)
	}
	return b.String()
}

// Text is the outcome in a line, without a notation.
func (o NotifiedOutcome) Text() string {
	return o.Project + ": " + strings.ReplaceAll(o.words(), "*", "")
}

func (o NotifiedOutcome) words() string {
	switch o.Standing {
	case Applying:
		return "being applied"
	case PlanFailed:
		return "the plan failed"
	case PlanStopped:
		return "the plan was stopped"
	case Applied, PartApplied:
		return "applied, " + sums.Made(o.Counts)
	case ApplyFailed:
		return "*the apply failed*, " + sums.Made(o.Counts) + " before"
	case Stopped:
		return "the apply was stopped"
	case NotApplied:
		if o.Counts == (counting.Counts{}) {
			return "*merged, but not applied*"
		}
		return "*merged, but not applied*, " + sums.ToCome(o.Counts, o.Standing != NoChanges)
	}
	return "planned, " + sums.ToCome(o.Counts, o.Standing != NoChanges)
}

// slacked is a text that Slack shows as it is.
func slacked(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "*", "∗", "`", "'", "\n", " ").Replace(text)
}
