package localstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

func pushed(id string, number int) pipeline.Message {
	return pipeline.Message{ID: id, Kind: pipeline.Pushed, Pull: pipeline.Pull{Repo: github.Repo{ID: 5}, Number: number}}
}

func send(t *testing.T, q *Queue, messages ...pipeline.Message) {
	t.Helper()
	for _, m := range messages {
		if err := q.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
}

// events collects what happens, in order.
type events struct {
	mu   sync.Mutex
	list []string
}

func (e *events) add(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, fmt.Sprintf(format, args...))
}

// TestWork lives through the tries of a message that fails, on a clock of its own.
func TestWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDir(t)
		ctx, cancel := context.WithCancel(t.Context())
		begin := time.Now()
		var e events
		since := func() time.Duration { return time.Since(begin).Truncate(time.Second) }
		abandons := 0
		send(t, d.Queue, pushed("bad", 1), pushed("other", 2))
		err := d.Queue.Work(ctx, Worker{
			Limit: 2,
			Handle: func(ctx context.Context, m pipeline.Message) error {
				e.add("%v %s", since(), m.ID)
				if m.ID == "bad" {
					return errors.New("GitHub is down")
				}
				return nil
			},
			Abandon: func(ctx context.Context, m pipeline.Message, reason string) error {
				e.add("%v abandon %s: %s", since(), m.ID, reason)
				if abandons++; abandons == 1 {
					send(t, d.Queue, pushed("good", 1))
					return errors.New("GitHub is still down")
				}
				cancel()
				return nil
			},
			Log: func(err error) { e.add("log %v", err) },
		})
		if err != nil {
			t.Error(err)
		}
		want := []string{
			"0s bad", "0s other", "log message bad, try 1: GitHub is down",
			"30s bad", "log message bad, try 2: GitHub is down",
			"5m30s bad", "log message bad, try 3: GitHub is down",
			"5m30s abandon bad: GitHub is down", "5m30s good", "log abandon message bad: GitHub is still down",
			"6m0s abandon bad: GitHub is down",
		}
		// Two work at a time: what happens at the same second has no order.
		slices.Sort(want)
		slices.Sort(e.list)
		if diff := cmp.Diff(want, e.list); diff != "" {
			t.Error(diff)
		}
		if n, err := d.Queue.Waiting(t.Context()); n != 0 || err != nil {
			t.Errorf("%d messages are left, %v", n, err)
		}
	})
}

// TestLongWork holds that a message which takes longer than the lease stays with who
// handles it, and that one whose handler is frozen does not, and is told so.
func TestLongWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDir(t)
		send(t, d.Queue, pushed("long", 1))
		handled := 0
		n, err := d.Queue.Drain(t.Context(), Worker{Limit: 2, Handle: func(ctx context.Context, m pipeline.Message) error {
			handled++
			time.Sleep(10 * defaultLease)
			return ctx.Err()
		}})
		if n != 1 || handled != 1 || err != nil {
			t.Errorf("handled %d times, %d done, %v", handled, n, err)
		}
		send(t, d.Queue, pushed("frozen", 1))
		var cause error
		n, err = d.Queue.Drain(t.Context(), Worker{Handle: func(ctx context.Context, m pipeline.Message) error {
			if cause != nil {
				return nil
			}
			// Another process saw no sign of us and took the message.
			if _, err := d.Queue.db.exec(ctx, "UPDATE message SET claim = 'theirs', ready = ?", time.Now().Add(defaultLease).UnixMilli()); err != nil {
				return err
			}
			<-ctx.Done()
			cause = context.Cause(ctx)
			return cause
		}})
		if !errors.Is(cause, errTaken) {
			t.Errorf("it was not told: %v", cause)
		}
		// The other one died: then it is ours again.
		if n != 1 || err != nil {
			t.Errorf("%d done, %v", n, err)
		}
	})
}

// TestRetention holds that records are forgotten when their time is over, while somebody
// works and when somebody begins to.
func TestRetention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDir(t)
		put := func(key string) {
			t.Helper()
			if _, err := d.Records.Put(t.Context(), key, nil, ""); err != nil {
				t.Fatal(err)
			}
		}
		has := func(key string, want bool) {
			t.Helper()
			if rec, err := d.Records.Get(t.Context(), key); err != nil || (rec.Version != "") != want {
				t.Errorf("%s: %+v, %v", key, rec, err)
			}
		}
		put("delivery/old")
		put("state/old")
		time.Sleep(pipeline.Retention("delivery/old") - 30*time.Minute)
		put("delivery/new")
		has("delivery/old", true)
		ctx, cancel := context.WithTimeout(t.Context(), 61*time.Minute)
		defer cancel()
		if err := d.Queue.Work(ctx, Worker{}); err != nil {
			t.Fatal(err)
		}
		has("delivery/old", false)
		has("delivery/new", true)
		time.Sleep(pipeline.Retention("delivery/new"))
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		has("delivery/new", false)
		has("state/old", true)
	})
}

// TestGroupsAtATime holds that as many groups as the limit are handled at a time, and of
// each one message.
func TestGroupsAtATime(t *testing.T) {
	t.Parallel()
	d := openDir(t)
	const groups, limit = 5, 3
	for i := range 3 {
		for g := range groups {
			send(t, d.Queue, pushed(fmt.Sprintf("%d.%d", g, i), g))
		}
	}
	var mu sync.Mutex
	busy, most, all := map[int]bool{}, 0, make(chan struct{})
	n, err := d.Queue.Drain(t.Context(), Worker{Limit: limit, Handle: func(ctx context.Context, m pipeline.Message) error {
		mu.Lock()
		if busy[m.Pull.Number] {
			t.Errorf("two messages of group %d at a time", m.Pull.Number)
		}
		busy[m.Pull.Number] = true
		most = max(most, len(busy))
		if len(busy) == limit && most == limit {
			select {
			case <-all:
			default:
				close(all)
			}
		}
		mu.Unlock()
		<-all // until there were as many as there may be
		mu.Lock()
		delete(busy, m.Pull.Number)
		mu.Unlock()
		return nil
	}})
	if n != 3*groups || err != nil || most != limit {
		t.Errorf("%d done, %v, %d at a time", n, err, most)
	}
}

// TestStop holds that work which is stopped from outside does not count as a try.
func TestStop(t *testing.T) {
	t.Parallel()
	d := openDir(t)
	send(t, d.Queue, pushed("a", 1))
	for range pipeline.MaxReceives + 1 {
		ctx, cancel := context.WithCancel(t.Context())
		if err := d.Queue.Work(ctx, Worker{Handle: func(ctx context.Context, m pipeline.Message) error {
			cancel()
			<-ctx.Done()
			return ctx.Err()
		}}); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := d.Queue.Drain(t.Context(), Worker{Handle: func(context.Context, pipeline.Message) error { return nil }}); n != 1 || err != nil {
		t.Errorf("%d done, %v", n, err)
	}
	send(t, d.Queue, pushed("b", 1))
	_, err := d.Queue.Drain(t.Context(), Worker{Handle: func(context.Context, pipeline.Message) error { return errors.New("it fails") }})
	if err == nil || !strings.Contains(err.Error(), "abandon message b: nobody takes it: it fails") {
		t.Errorf("nobody takes dead letters: %v", err)
	}
}

// TestKindOfAnotherVersion holds that a message of a kind that this version does not have is given up like one that fails.
func TestKindOfAnotherVersion(t *testing.T) {
	t.Parallel()
	d := openDir(t)
	send(t, d.Queue, pushed("a", 1))
	if n, err := d.Queue.db.exec(t.Context(), `UPDATE message SET body = replace(body, '"pushed"', '"later"')`); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	tries, reason := 0, ""
	_, err := d.Queue.Drain(t.Context(), Worker{
		Handle: func(_ context.Context, m pipeline.Message) error {
			tries++
			return fmt.Errorf("there is no kind of message %q", m.Kind)
		},
		Abandon: func(_ context.Context, _ pipeline.Message, why string) error {
			reason = why
			return nil
		},
	})
	if err != nil || tries != pipeline.MaxReceives || reason != `there is no kind of message "later"` {
		t.Errorf("%d tries, %v, given up since %s", tries, err, reason)
	}
}
