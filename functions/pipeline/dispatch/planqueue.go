package dispatch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
)

// A planQueue limits how many plans of one repository are in the queue of plans at the same time. The queue
// delivers messages in the order of their arrival, so without the limit, a repository could wait for any
// number of plans of another. The messages above the limit wait in records. The pull requests of a repository
// take turns. After a message is handled, its handler sends the next waiting ones of the same repository.
type planQueue struct {
	pipeline.Queue
	ledger ledger.Ledger
	share  int // 0 means no limit
}

// A repositoryQueue lists the messages of a repository that are in the queue of plans. It also counts the
// messages that wait outside of the queue.
type repositoryQueue struct {
	On      []sentMessage `json:",omitempty"`
	Waiting int           `json:",omitempty"` // is 0 only if no message waits, or if a process that adds one will look again
	Next    int           // the place of the next message that waits
}

// A sentMessage is a message that was sent and is not handled yet.
type sentMessage struct {
	ID   string
	Pull int
	Sent time.Time
	// Due is set if a message may now be sent to the queue, but is not sent yet.
	Due bool `json:",omitempty"`
}

// A waitingMessage is a message that waits in a record, and is not in the queue yet.
type waitingMessage struct {
	Message pipeline.Message
	Place   int
}

// lostAfter is how long a message that nobody handles is listed as being in the queue. After that, the message
// counts as lost, and another one is sent.
const lostAfter = 3 * time.Hour

func queueKey(repo int64) string { return fmt.Sprintf("line/%d", repo) }

func waitingKey(repo int64, id string) string { return queueKey(repo) + "/" + url.PathEscape(id) }

// due returns the IDs of the messages that may be in the queue but, as far as known, were not sent.
func (l repositoryQueue) due() (ids []string) {
	for _, x := range l.On {
		if x.Due {
			ids = append(ids, x.ID)
		}
	}
	return ids
}

// has reports whether the message with the given ID is in the queue.
func (l repositoryQueue) has(id string) bool {
	return slices.ContainsFunc(l.On, func(x sentMessage) bool { return x.ID == id })
}

// put adds a message to the list of messages in the queue.
func (l *repositoryQueue) put(m pipeline.Message, now time.Time) {
	l.On = append(l.On, sentMessage{ID: m.ID, Pull: m.Pull.Number, Sent: now})
}

// forget removes messages from the list that are certainly no longer in the queue.
func (l *repositoryQueue) forget(now time.Time) {
	l.On = slices.DeleteFunc(l.On, func(x sentMessage) bool { return now.Sub(x.Sent) > lostAfter })
}

// pick chooses waiting messages to send, up to the limit share, so that the pull requests take turns. It
// returns how many it has chosen.
func (l *repositoryQueue) pick(all []waitingMessage, share int, now time.Time) (n int) {
	has := map[int]int{} // number of messages in the queue, by the number of the pull request
	for _, x := range l.On {
		has[x.Pull]++
	}
	for ; len(l.On) < share && len(all) > 0; n++ {
		first := slices.MinFunc(all, func(a, b waitingMessage) int {
			return cmp.Or(has[a.Message.Pull.Number]-has[b.Message.Pull.Number], a.Place-b.Place)
		})
		all = slices.DeleteFunc(slices.Clone(all), func(x waitingMessage) bool { return x.Message.ID == first.Message.ID })
		has[first.Message.Pull.Number]++
		l.put(first.Message, now)
		l.On[len(l.On)-1].Due = true
	}
	return n
}

// Send implements [pipeline.Queue].
func (q *planQueue) Send(ctx context.Context, m pipeline.Message) error {
	if q.share == 0 || !m.On(pipeline.Plans) {
		return q.Queue.Send(ctx, m)
	}
	now, goes, w := time.Now().UTC(), false, waitingMessage{Message: m}
	err := q.change(ctx, m.Pull.Repo.ID, func(l *repositoryQueue) {
		l.forget(now)
		switch goes = l.has(m.ID); {
		case goes:
		case len(l.On) < q.share && l.Waiting == 0:
			l.put(m, now)
			goes = true
		default:
			w.Place = l.Next
			l.Next++
			l.Waiting++
		}
	})
	if err != nil {
		return err
	}
	if goes {
		return q.send(ctx, m)
	}
	_, err = q.ledger.Records.Put(ctx, waitingKey(m.Pull.Repo.ID, m.ID), pipeline.Encode(w), "")
	if err != nil && !errors.Is(err, pipeline.ErrConflict) { // it waits already
		return err
	}
	return q.next(ctx, m.Pull.Repo.ID, true)
}

// send sends a message that is listed as being in the queue. If the message was already handled, no handler
// will remove it from the list, so send removes it at once.
func (q *planQueue) send(ctx context.Context, m pipeline.Message) error {
	if err := q.Queue.Send(ctx, m); err != nil {
		return err
	}
	for _, end := range []string{"", givenUp} {
		done, err := ledger.Attempts{Ledger: q.ledger, Key: messageKey(m) + end}.Done(ctx)
		if err != nil {
			return err
		}
		if done {
			_, err := q.leave(ctx, m)
			return err
		}
	}
	return nil
}

// Ahead returns how many plans of the repository come before a plan that is sent now.
func (q *planQueue) Ahead(ctx context.Context, p pipeline.Pull) (int, error) {
	if q.share == 0 {
		return pipeline.Ahead(ctx, q.Queue, p)
	}
	l, _, err := q.read(ctx, p.Repo.ID)
	return len(l.On) + l.Waiting, err
}

// handled removes the handled message m from the list of messages in the queue, and sends waiting messages.
func (q *planQueue) handled(ctx context.Context, m pipeline.Message) error {
	if q.share == 0 || m.On(pipeline.Applies) {
		return nil
	}
	if _, err := q.leave(ctx, m); err != nil {
		return err
	}
	return q.next(ctx, m.Pull.Repo.ID, false)
}

// abandoned removes the given-up message m from the list of messages in the queue. It then makes another
// process send waiting messages, because a process that gives up messages may not have the right to send any.
func (q *planQueue) abandoned(ctx context.Context, m pipeline.Message) error {
	left, err := q.leave(ctx, m)
	if err != nil || !left {
		return err
	}
	return pipeline.Send(ctx, q.Queue, m.Pull, pipeline.Message{Kind: pipeline.SyncComments}, strings.ReplaceAll(m.ID, "/", "-"), "left")
}

// leave removes a message from the list of messages in the queue. had is false if the list did not have it.
func (q *planQueue) leave(ctx context.Context, m pipeline.Message) (had bool, err error) {
	if !m.On(pipeline.Plans) {
		return false, nil
	}
	l, _, err := q.read(ctx, m.Pull.Repo.ID)
	if err != nil || !l.has(m.ID) {
		return false, err
	}
	return true, q.change(ctx, m.Pull.Repo.ID, func(l *repositoryQueue) {
		l.On = slices.DeleteFunc(l.On, func(x sentMessage) bool { return x.ID == m.ID })
	})
}

// next sends waiting messages, as many as the limit allows. added is set if the caller has just added a waiting
// message. next then reads the waiting messages even if their recorded number is 0: another process may have
// counted them before this one was added.
func (q *planQueue) next(ctx context.Context, repo int64, added bool) error {
	for {
		l, version, err := q.read(ctx, repo)
		if err != nil || version == "" {
			return err
		}
		if due := l.due(); len(due) > 0 {
			if err := q.sendDue(ctx, repo, due); err != nil {
				return err
			}
			continue
		}
		now := time.Now().UTC()
		l.forget(now)
		room := len(l.On) < q.share
		if !room && l.Waiting > 0 || l.Waiting == 0 && !added {
			return nil
		}
		all, err := q.waiting(ctx, repo)
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(x waitingMessage) bool { return l.has(x.Message.ID) })
		l.Waiting = len(all) - l.pick(all, q.share, now)
		_, err = q.ledger.Records.Put(ctx, queueKey(repo), pipeline.Encode(l), version)
		if err != nil && !errors.Is(err, pipeline.ErrConflict) {
			return err
		}
		added = added && err != nil
	}
}

// sendDue sends the messages with the given IDs. If a process has died after sending a message, sendDue sends
// it once more, and the queue treats both as one.
func (q *planQueue) sendDue(ctx context.Context, repo int64, ids []string) error {
	for _, id := range ids {
		key := waitingKey(repo, id)
		rec, err := q.ledger.Records.Get(ctx, key)
		if err != nil {
			return err
		}
		if rec.Version == "" {
			continue
		}
		var w waitingMessage
		if err := json.Unmarshal(rec.Value, &w); err != nil {
			return fmt.Errorf("read %s: the record is damaged: %w", key, err)
		}
		if err := q.send(ctx, w.Message); err != nil {
			return err
		}
		if err := q.ledger.Records.Delete(ctx, key, rec.Version); err != nil && !errors.Is(err, pipeline.ErrConflict) {
			return err
		}
	}
	return q.change(ctx, repo, func(l *repositoryQueue) {
		for i, x := range l.On {
			l.On[i].Due = x.Due && !slices.Contains(ids, x.ID)
		}
	})
}

// waiting returns the messages of a repository that wait outside of the queue.
func (q *planQueue) waiting(ctx context.Context, repo int64) (all []waitingMessage, err error) {
	return ledger.List[waitingMessage](ctx, q.ledger, queueKey(repo))
}

// read reads the record of a repository's queue. The version is "" if there is no record.
func (q *planQueue) read(ctx context.Context, repo int64) (l repositoryQueue, v pipeline.Version, err error) {
	rec, err := q.ledger.Records.Get(ctx, queueKey(repo))
	if err == nil && rec.Version != "" {
		if err = json.Unmarshal(rec.Value, &l); err != nil {
			err = fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
		}
	}
	return l, rec.Version, err
}

// change changes the record of a repository's queue.
func (q *planQueue) change(ctx context.Context, repo int64, do func(*repositoryQueue)) error {
	return ledger.Edit(ctx, q.ledger, queueKey(repo), func(l *repositoryQueue) *repositoryQueue {
		l = cmp.Or(l, &repositoryQueue{})
		do(l)
		return l
	})
}
