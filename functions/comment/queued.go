package comment

import (
	"github.com/lockstep-iac/lockstep/functions/comment/internal/queues"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// A QueueOutcome is the result of a plan that was made of the commit of a merge group.
type QueueOutcome = queues.Outcome

const (
	QueueAwaited QueueOutcome = ""        // it is being made
	QueueSame    QueueOutcome = "same"    // it is the plan that waits for the merge
	QueueOnTop   QueueOutcome = "on top"  // it has the changes of others, too, which are merged first and are not applied yet
	QueueDiffers QueueOutcome = "differs" // it is another plan
	QueueFailed  QueueOutcome = "failed"  // it could not be made, or compared
	QueueUnseen  QueueOutcome = "unseen"  // the pull request is in the queue since before its plan was shown
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
func (q QueuedPlan) line() string { return queues.Plan(q).Line() }

// markdown is the comment on the pull request; there is one only where the check of the group fails.
func (q QueuedPlan) markdown() string { return queues.Plan(q).Text() }
