package dispatch

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/github"
)

// arrivals is a queue that is served in the order of arrival, whatever the message is about.
type arrivals struct {
	list []pipeline.Message
	down bool
}

func (q *arrivals) Send(_ context.Context, m pipeline.Message) error {
	if q.down {
		return errors.New("the queue is down")
	}
	q.list = append(q.list, m)
	return nil
}

func (q *arrivals) first() (m pipeline.Message) {
	m, q.list = q.list[0], q.list[1:]
	return m
}

// plans are messages for so many plans of a pull request.
func plans(t *testing.T, q *planQueue, repo int64, number, n int) {
	t.Helper()
	for i := range n {
		m := pipeline.Message{
			ID: fmt.Sprintf("plan-%d-%d", number, i), Kind: pipeline.ToPlan, Target: fmt.Sprint(i),
			Pull: pipeline.Pull{Repo: github.Repo{ID: repo}, Number: number},
		}
		if err := q.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
}

// TestShareOfPlans holds that a repository which has 300 plans made keeps another one waiting for its share of the queue alone, that one pull request
// does not keep another one of the repository waiting, and that each plan is made.
func TestShareOfPlans(t *testing.T) {
	const share = 4
	fifo := &arrivals{}
	q := &planQueue{Queue: fifo, ledger: ledger.Ledger{Records: new(memory.Store)}, share: share}
	plans(t, q, 5, 1, 297)
	plans(t, q, 5, 2, 3)
	plans(t, q, 6, 1, 1)
	if n, err := q.Ahead(t.Context(), pipeline.Pull{Repo: github.Repo{ID: 5}}); n != 300 || err != nil {
		t.Errorf("%d are ahead, %v", n, err)
	}
	made, other, last := map[string]int{}, 0, 0 // the places at which the other repository, and the second pull request, were served
	for n := 1; len(fifo.list) > 0; n++ {
		if len(fifo.list) > share+1 {
			t.Fatalf("%d messages are on the queue", len(fifo.list))
		}
		m := fifo.first()
		made[fmt.Sprint(m.Pull.Repo.ID, m.ID)]++
		switch {
		case m.Pull.Repo.ID == 6:
			other = n
		case m.Pull.Number == 2:
			last = n
		}
		if err := q.handled(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	if len(made) != 301 || other != share+1 || last > 4*share {
		t.Errorf("%d plans are made, that of the other repository as number %d, those of the other pull request up to number %d", len(made), other, last)
	}
	for id, n := range made {
		if n != 1 {
			t.Errorf("%s was sent %d times", id, n)
		}
	}
	if n, err := q.Ahead(t.Context(), pipeline.Pull{Repo: github.Repo{ID: 5}}); n != 0 || err != nil {
		t.Errorf("%d are left, %v", n, err)
	}
}

// TestShareAfterFailure holds that messages which could not be sent when their turn came are sent by whoever comes next.
func TestShareAfterFailure(t *testing.T) {
	fifo := &arrivals{}
	q := &planQueue{Queue: fifo, ledger: ledger.Ledger{Records: new(memory.Store)}, share: 1}
	plans(t, q, 5, 1, 2)
	m := fifo.first()
	fifo.down = true
	if err := q.handled(t.Context(), m); err == nil || len(fifo.list) > 0 {
		t.Errorf("it was sent, %v", err)
	}
	fifo.down = false
	if err := q.handled(t.Context(), m); err != nil || len(fifo.list) != 1 || fifo.list[0].ID == m.ID {
		t.Errorf("then there are %+v, %v", fifo.list, err)
	}
}

// TestShareOfWhatIsDone holds that a message which is sent again after it was handled, or given up, takes no place: the queue swallows it.
func TestShareOfWhatIsDone(t *testing.T) {
	for _, end := range []string{"", givenUp} {
		store := new(memory.Store)
		q := &planQueue{Queue: &arrivals{}, ledger: ledger.Ledger{Records: store}, share: 1}
		if _, err := store.Put(t.Context(), "message/plan-1-0"+end, []byte("done"), ""); err != nil {
			t.Fatal(err)
		}
		plans(t, q, 5, 1, 1)
		if n, err := q.Ahead(t.Context(), pipeline.Pull{Repo: github.Repo{ID: 5}}); n != 0 || err != nil {
			t.Errorf("%d are ahead, %v", n, err)
		}
	}
}

// TestShareAfterDeadLetters holds that plans which wait for others that were given up are made, too: who gives up may have no right to the queue.
func TestShareAfterDeadLetters(t *testing.T) {
	fifo, records := &arrivals{}, new(memory.Store)
	q := &planQueue{Queue: fifo, ledger: ledger.Ledger{Records: records}, share: 2}
	plans(t, q, 5, 1, 5)
	janitor := &planQueue{Queue: &arrivals{}, ledger: q.ledger}
	for range 2 {
		m := fifo.first()
		for range 2 { // it can be repeated
			if err := janitor.abandoned(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
	}
	events := janitor.Queue.(*arrivals)
	if len(fifo.list) != 0 || len(events.list) != 2 || events.list[0].Queue() != pipeline.Events {
		t.Fatalf("%d messages, and events %+v", len(fifo.list), events.list)
	}
	if err := q.handled(t.Context(), events.first()); err != nil {
		t.Fatal(err)
	}
	if len(fifo.list) != 2 || fifo.list[0].Kind != pipeline.ToPlan {
		t.Errorf("then there are %+v", fifo.list)
	}
}
