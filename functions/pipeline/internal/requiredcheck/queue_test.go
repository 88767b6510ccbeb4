package requiredcheck

import (
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// TestInQueue is the table of standings in a merge group: the head's, the plans of the group, and the outcome.
func TestInQueue(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		head, plans string
		gone        bool
		waiting     project.Waiting
		want        comment.HeadStanding
	}{
		{"on merge", "", false, "", comment.HeadOnMerge},
		{"on merge", "same", false, "", comment.HeadOnMerge},
		{"on merge", "on top", false, "", comment.HeadOnMerge},
		{"on merge", "awaited", false, "", comment.HeadQueuePlanning},
		{"on merge", "same,awaited,on top", false, "", comment.HeadQueuePlanning},
		{"on merge", "differs,awaited", false, "", comment.HeadQueueDiffers}, // it will not be better
		{"on merge", "failed,same", false, "", comment.HeadQueueFailed},
		{"on merge", "failed,differs", false, "", comment.HeadQueueDiffers},
		{"on merge", "same,unseen,awaited", false, "", comment.HeadQueueUnseen},
		{"on merge", "unseen,failed", false, "", comment.HeadQueueFailed},
		{"nothing", "apart", false, "", comment.HeadQueueApart},
		{"on merge", "apart,unseen,same", false, "", comment.HeadQueueApart},
		{"waiting", "awaited", false, "", comment.HeadQueuePlanning},
		{"waiting", "differs", false, "", comment.HeadQueueDiffers},
		{"waiting", "same", false, project.WaitingFails, comment.HeadWaiting},
		{"waiting", "awaited", false, project.WaitingFails, comment.HeadWaiting},
		{"planning", "same", false, "", comment.HeadPlanning},
		{"plan failed", "same", false, "", comment.HeadPlanFailed},
		{"blocked", "same", false, "", comment.HeadBlocked},
		{"renewed", "", false, "", comment.HeadRenewed},
		{"nothing", "", false, "", comment.HeadNothing},
		{"applied", "", false, "", comment.HeadApplied},
		{"closed", "same", false, "", comment.HeadClosed},
		{"on merge", "same", true, "", comment.HeadDequeued},
		{"planning", "", true, "", comment.HeadDequeued},
	} {
		var plans []comment.QueuedPlan
		for name := range strings.SplitSeq(test.plans, ",") {
			if name != "" {
				plans = append(plans, comment.QueuedPlan{Outcome: comment.QueueOutcome(strings.TrimPrefix(name, "awaited"))})
			}
		}
		if got := InQueue(comment.HeadStanding(test.head), test.waiting, test.gone, plans); got != test.want {
			t.Errorf("%s, %s: %s, want %s", test.head, test.plans, got, test.want)
		}
	}
}
