package runs

import (
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// Applies to one state are done one after the other, in the order in which they were queued. The queue of
// messages ensures that. The record of the queue is only for people. It may still contain applies that are
// over. So each apply in it is compared with its run before it is shown.

// A Turn is an apply in the queue of applies to one state.
type Turn struct {
	Pull pipeline.Pull
	Try  int    // of its run
	By   string `json:",omitempty"` // login of the user who asked for it
	// Target names the run among those of the pull request; "" means the target that the queue belongs to.
	Target string `json:",omitempty"`
}

// QueueKey returns the key of the record with the turns of the run's state. In the record, the next turn comes
// first.
func (r Run) QueueKey() string { return fmt.Sprintf("queue/%d/%s", r.Pull.Repo.ID, r.StateName()) }

// Turn returns the turn of the run's last apply.
func (r Run) Turn() Turn {
	t := Turn{Pull: r.Pull, Try: r.Asked.Try, By: r.Asked.By}
	if r.StateName() != r.Target() {
		t.Target = r.Target()
	}
	return t
}

// Over reports whether a turn is over, or belongs to another apply than the run's last one. r is the present
// run of the turn's pull request.
func (t Turn) Over(r Run) bool { return r.Asked.Try != t.Try || !r.Phase.UnderWay() }

// samePull reports whether two turns belong to the same pull request. A pull request has at most one turn in a
// queue.
func (t Turn) samePull(x Turn) bool { return t.Pull.Number == x.Pull.Number }

// Join returns a queue with turn t at its end, unless the queue already contains t. An earlier turn of the same
// pull request is over, and t replaces it.
func Join(queue []Turn, t Turn) []Turn {
	if i := slices.IndexFunc(queue, t.samePull); i >= 0 && queue[i].Try == t.Try {
		return queue
	}
	return append(slices.DeleteFunc(slices.Clone(queue), t.samePull), t)
}

// ahead returns the turns before the turn of a run. It returns all turns if the run has none.
func ahead(queue []Turn, r Run) []Turn {
	if i := slices.IndexFunc(queue, r.Turn().samePull); i >= 0 {
		return queue[:i]
	}
	return queue
}
