package comment

import "github.com/lockstep-iac/lockstep/functions/comment/internal/queues"

// A QueueOutcome is the result of a plan that was made of the commit of a merge group.
type QueueOutcome = queues.Outcome

const (
	QueueAwaited QueueOutcome = "" // it is being made
	QueueSame                 = queues.Same
	QueueOnTop                = queues.OnTop
	QueueDiffers              = queues.Differs
	QueueFailed               = queues.Failed
	QueueUnseen               = queues.Unseen
	QueueApart                = queues.Apart
)

// A QueuedPlan is the plan of a project at the head of GitHub's merge queue, compared with the plan that waits for the merge.
type QueuedPlan queues.Plan

// line tells the outcome in the page of a merge group's check.
func (q QueuedPlan) line() string { return queues.Plan(q).Line() }

// markdown is the comment on the pull request; there is one only where the check of the group fails.
func (q QueuedPlan) markdown() string { return queues.Plan(q).Text() }
