package requiredcheck

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// InQueue returns the state of a pull request in its merge group. If the head itself could not be merged, it is
// the state of the head. Otherwise, the plans from the group's commit decide. gone is set if the group no
// longer exists on GitHub.
func InQueue(head comment.HeadStanding, w project.Waiting, gone bool, plans []comment.QueuedPlan) comment.HeadStanding {
	if gone {
		return comment.HeadDequeued
	}
	if !Passes(head, w) {
		return head
	}
	for _, row := range []struct {
		is    comment.QueueOutcome
		stand comment.HeadStanding
	}{
		{comment.QueueDiffers, comment.HeadQueueDiffers}, {comment.QueueFailed, comment.HeadQueueFailed}, {comment.QueueApart, comment.HeadQueueApart}, {comment.QueueUnseen, comment.HeadQueueUnseen},
		{comment.QueueAwaited, comment.HeadQueuePlanning},
	} {
		if slices.ContainsFunc(plans, func(p comment.QueuedPlan) bool { return p.Outcome == row.is }) {
			return row.stand
		}
	}
	return head
}
