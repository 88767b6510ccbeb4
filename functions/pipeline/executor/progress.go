package executor

import (
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment"
)

// tellEvery is how often an apply reports its progress.
const tellEvery = 5 * time.Second

// A teller reports the progress of an apply to the job's function for that.
type teller struct {
	tell func(comment.Progress)

	mu   sync.Mutex
	far  comment.Progress
	told time.Time
}

// listen receives the events of the apply; it is an events.Listener.
func (t *teller) listen(e events.Event) {
	if e.Kind != events.ApplyDone && e.Kind != events.ApplySpared || e.Action.Count(counting.Counts{}) == (counting.Counts{}) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.far.Done++; time.Since(t.told) >= tellEvery {
		t.now()
	}
}

// now reports the progress. The caller holds t.mu, or no other goroutine uses t.
func (t *teller) now() {
	t.told = time.Now()
	if t.tell != nil {
		t.tell(t.far)
	}
}
