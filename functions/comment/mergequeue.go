package comment

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// A QueueOutcome is the result of a project's plan from the commit of a merge group. It is "" until the plan is
// made.
type QueueOutcome string

const (
	QueueAwaited QueueOutcome = ""        // the plan is being made
	QueueSame    QueueOutcome = "same"    // the plan has the same changes as the plan that waits for the merge
	QueueOnTop   QueueOutcome = "on top"  // the plan also has changes of pull requests that are merged first and not applied yet
	QueueDiffers QueueOutcome = "differs" // the plan has other changes
	QueueFailed  QueueOutcome = "failed"  // the plan could not be made, or not compared
	QueueUnseen  QueueOutcome = "unseen"  // the pull request was added to the queue before its plan was shown
	QueueApart   QueueOutcome = "apart"   // the pull request touches the project only together with those ahead of it, so it has no plan
)

// A QueuedPlan is a project's plan from the commit of a merge group. It is compared with the pull request's
// plan, which waits for the merge.
type QueuedPlan struct {
	Project string
	Group   string // the commit of the merge group
	Outcome QueueOutcome
	// On are pull requests before this one in the merge queue. They change the same state, and are not applied
	// yet.
	On []int `json:",omitempty"`
	// Since are the parts that have changed since the earlier plan. Difference is the difference of the two
	// plans. Problem is the reason if they could not be compared. Difference and Problem are Markdown.
	Since      reasons.List `json:",omitempty"`
	Difference string       `json:",omitempty"`
	Problem    string       `json:",omitempty"`
	Empty      bool         `json:",omitempty"` // the plan with which this one is compared has no changes
}

// line returns the text about the outcome for the page of a merge group's check.
func (q QueuedPlan) line() string {
	name, at := markdown.Code(q.Project), markdown.Code(markdown.SHA(q.Group))
	switch q.Outcome {
	case QueueSame:
		return fmt.Sprintf("%s: planned again in the merge queue at %s, with the same changes.", name, at)
	case QueueOnTop:
		after := map[bool]string{false: "The apply plans again, and stops if the changes differ.", true: "Lockstep plans it again after that apply."}[q.Empty]
		return fmt.Sprintf("%s: planned again in the merge queue at %s, on top of %s, which is ahead and not applied yet. %s", name, at, pullNumbers(q.On), after)
	case QueueDiffers, QueueFailed, QueueUnseen, QueueApart:
		return q.markdown()
	}
	return fmt.Sprintf("%s: planning in the merge queue.", name)
}

// markdown returns a comment for the pull request about this plan. Lockstep writes the comment only if the
// check of the merge group fails.
func (q QueuedPlan) markdown() string {
	name, at := markdown.Code(q.Project), markdown.Code(markdown.SHA(q.Group))
	if q.Outcome == QueueUnseen {
		return fmt.Sprintf("**Added to the merge queue before the plan of %s was posted** (%s), so nobody had seen the plan.\n\nThe check of the merge group fails, and nothing is merged. Read the plan, then add the pull request to the queue again.", name, at)
	}
	if q.Outcome == QueueApart {
		return fmt.Sprintf("**No plan of %s** (%s): this pull request changes the project only together with the pull requests ahead in the queue, so nobody has seen a plan.\n\nThe check of the merge group fails, and nothing is merged. Once the pull requests ahead are merged, comment `lockstep plan` and read the plan. Then add the pull request to the queue again.", name, at)
	}
	after := ""
	if len(q.On) > 0 {
		after = fmt.Sprintf(" after the apply of %s", pullNumbers(q.On))
	}
	remedy := fmt.Sprintf("The check of the merge group fails, and nothing is merged. Comment %s%s, and read the plan. Then add the pull request to the queue again.",
		markdown.Code(grammar.Command{Verb: grammar.Plan, Project: q.Project}.String()), after)
	if q.Outcome == QueueFailed {
		return fmt.Sprintf("**Failed to plan %s in the merge queue** (%s).\n\n%s\n\n%s", name, at, strings.TrimSpace(q.Problem), remedy)
	}
	event, rest := "is out of date", remedy
	if q.Difference != "" {
		event = "has changed"
		rest = fmt.Sprintf("`-` is the plan that applies on merge, `+` the new one.\n\n%s\n\n%s", strings.TrimSpace(q.Difference), remedy)
	}
	cause := ".\n\n" + rest
	if len(q.Since) > 0 {
		cause = reasons.Because(q.Since, rest)
	}
	return fmt.Sprintf("**The plan of %s %s in the merge queue** (%s)%s", name, event, at, cause)
}

// pullNumbers returns a list of pull requests: "#12, #15".
func pullNumbers(list []int) string {
	var out []string
	for _, n := range list {
		out = append(out, fmt.Sprintf("#%d", n))
	}
	return strings.Join(out, ", ")
}
