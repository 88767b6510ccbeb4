// Package outcomes has the words of plans and applies for people elsewhere than on GitHub: in chats, and in records of deployments.
//
// It refuses to know who wants to hear of them, and how they get there. Start at [Message].
package outcomes

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/internal/sums"
)

// A Message is the outcomes of plans and applies of a pull request.
type Message struct {
	Repo     string // OWNER/NAME
	Number   int
	URL      string // of the pull request
	Outcomes []Outcome
}

// An Outcome is one of them.
type Outcome struct {
	Project  string
	Standing comment.Standing // Planned, Applied or another one at rest
	Actor    string           // login; "" for a push
	Counts   counting.Counts
}

// most is the number of outcomes that are told one by one.
const most = 30

// Slack returns them in Slack's notation, in which nobody is mentioned.
// Source: https://docs.slack.dev/messaging/formatting-message-text (escaping text)
func (m Message) Slack() string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%s* <%s|#%d>", slacked(m.Repo), slacked(m.URL), m.Number)
	for _, o := range m.Outcomes[:min(len(m.Outcomes), most)] {
		fmt.Fprintf(&b, "\n• *%s*: %s", slacked(o.Project), o.words())
		if o.Actor != "" {
			fmt.Fprintf(&b, " (%s)", slacked(o.Actor))
		}
	}
	if more := len(m.Outcomes) - most; more > 0 {
		fmt.Fprintf(&b, "\n• and %d more", more)
	}
	return b.String()
}

// Text is the outcome in a line, without a notation.
func (o Outcome) Text() string {
	return o.Project + ": " + strings.ReplaceAll(o.words(), "*", "")
}

func (o Outcome) words() string {
	switch o.Standing {
	case comment.Applying:
		return "being applied"
	case comment.PlanFailed:
		return "the plan failed"
	case comment.PlanStopped:
		return "the plan was stopped"
	case comment.Applied, comment.PartApplied:
		return "applied, " + sums.Made(o.Counts)
	case comment.ApplyFailed:
		return "*the apply failed*, " + sums.Made(o.Counts) + " before"
	case comment.Stopped:
		return "the apply was stopped"
	case comment.NotApplied:
		if o.Counts == (counting.Counts{}) {
			return "*merged, but not applied*"
		}
		return "*merged, but not applied*, " + sums.ToCome(o.Counts, o.Standing != comment.NoChanges)
	}
	return "planned, " + sums.ToCome(o.Counts, o.Standing != comment.NoChanges)
}

// slacked is a text that Slack shows as it is.
func slacked(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "*", "∗", "`", "'", "\n", " ").Replace(text)
}
