package comment

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// A QueueOutcome is the result of a plan that was made of the commit of a merge group; "" while it is being made.
type QueueOutcome string

const (
	QueueAwaited QueueOutcome = ""        // it is being made
	QueueSame    QueueOutcome = "same"    // it is the plan that waits for the merge
	QueueOnTop   QueueOutcome = "on top"  // it has the changes of others, too, which are merged first and are not applied yet
	QueueDiffers QueueOutcome = "differs" // it is another plan
	QueueFailed  QueueOutcome = "failed"  // it could not be made, or compared
	QueueUnseen  QueueOutcome = "unseen"  // the pull request is in the queue since before its plan was shown
	QueueApart   QueueOutcome = "apart"   // the pull request touches the project only together with those ahead of it, so it has no plan
)

// A QueuedPlan is the plan of a project at the head of GitHub's merge queue, compared with the plan that waits for the merge.
type QueuedPlan struct {
	Project string
	Group   string // the commit of the merge group
	Outcome QueueOutcome
	// On are the pull requests before it that change the same state and are not applied yet.
	On []int `json:",omitempty"`
	// Since are the parts of the plan that had moved. Difference and Problem are Markdown.
	Since      reasons.List `json:",omitempty"`
	Difference string       `json:",omitempty"`
	Problem    string       `json:",omitempty"`
	Empty      bool         `json:",omitempty"` // the plan that it is compared with has no changes
}

// line tells the outcome in the page of a merge group's check.
func (q QueuedPlan) line() string {
	name, at := markdown.Code(q.Project), markdown.Code(markdown.SHA(q.Group))
	switch q.Outcome {
	case QueueSame:
		return fmt.Sprintf("%s was planned again at the head of the merge queue, %s: the changes are the same.", name, at)
	case QueueOnTop:
		after := map[bool]string{false: "Its apply plans once more, and is refused if the changes are not those of this plan.", true: "Once that is done, it is planned once more."}[q.Empty]
		return fmt.Sprintf("%s was planned again at the head of the merge queue, %s, on top of %s, which changes the same state, is merged first, and is not applied yet. %s", name, at, pullNumbers(q.On), after)
	case QueueDiffers, QueueFailed, QueueUnseen, QueueApart:
		return q.markdown()
	}
	return fmt.Sprintf("%s is being planned at the head of the merge queue.", name)
}

// markdown is the comment on the pull request; there is one only where the check of the group fails.
func (q QueuedPlan) markdown() string {
	name, at := markdown.Code(q.Project), markdown.Code(markdown.SHA(q.Group))
	if q.Outcome == QueueUnseen {
		return fmt.Sprintf("**The pull request was put into the merge queue before the plan of %s was shown**, %s: whoever did it has not seen the plan.\n\nSo the check of the merge group fails, and nothing is merged. Look at the plan, and put the pull request into the queue again.", name, at)
	}
	if q.Outcome == QueueApart {
		return fmt.Sprintf("**Not planned: touches %s only together with the pull requests ahead**, %s: by itself this pull request does not change the project, so nobody has seen a plan of this change.\n\nSo the check of the merge group fails, and nothing is merged. Once the pull requests ahead of it in the queue are merged, comment `lockstep plan`, look at the plan, and put the pull request into the queue again.", name, at)
	}
	after := ""
	if len(q.On) > 0 {
		after = fmt.Sprintf(" after the apply of %s", pullNumbers(q.On))
	}
	remedy := fmt.Sprintf("So the check of the merge group fails, and nothing is merged. Comment %s%s, look at the plan, and put the pull request into the queue again.",
		markdown.Code(grammar.Command{Verb: grammar.Plan, Project: q.Project}.String()), after)
	if q.Outcome == QueueFailed {
		return fmt.Sprintf("**%s could not be planned at the head of the merge queue**, %s.\n\n%s\n\n%s", name, at, strings.TrimSpace(q.Problem), remedy)
	}
	since := ""
	if len(q.Since) > 0 {
		since = ", since " + reasons.Since(q.Since)
	}
	if q.Difference == "" {
		return fmt.Sprintf("**The plan for %s does not hold at the head of the merge queue**, %s%s.\n\n%s", name, at, since, remedy)
	}
	return fmt.Sprintf("**Another plan for %s at the head of the merge queue**, %s%s: `-` is of the plan that waits for the merge, `+` of the one there.\n\n%s\n\n%s",
		name, at, since, strings.TrimSpace(q.Difference), remedy)
}

// pullNumbers lists pull requests.
func pullNumbers(list []int) string {
	var out []string
	for _, n := range list {
		out = append(out, fmt.Sprintf("#%d", n))
	}
	return strings.Join(out, ", ")
}
