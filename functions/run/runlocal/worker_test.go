package runlocal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/run"
	"github.com/lockstep-iac/lockstep/github"
)

func pushed(id string, number int) run.Message {
	return run.Message{ID: id, Kind: run.Pushed, Pull: run.Pull{Repo: github.Repo{ID: 5}, Number: number}}
}

func send(t *testing.T, q *Queue, messages ...run.Message) {
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
			Handle: func(ctx context.Context, m run.Message) error {
				e.add("%v %s", since(), m.ID)
				if m.ID == "bad" {
					return errors.New("GitHub is down")
				}
				return nil
			},
			Abandon: func(ctx context.Context, m run.Message, reason string) error {
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
			"0s bad", "0s other", "log message bad, try 1 of 3: GitHub is down",
			"30s bad", "log message bad, try 2 of 3: GitHub is down",
			"5m30s bad", "log message bad, try 3 of 3: GitHub is down",
			"5m30s abandon bad: GitHub is down", "5m30s good", "log give up message bad: GitHub is still down",
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
		n, err := d.Queue.Drain(t.Context(), Worker{Limit: 2, Handle: func(ctx context.Context, m run.Message) error {
			handled++
			time.Sleep(10 * lease)
			return ctx.Err()
		}})
		if n != 1 || handled != 1 || err != nil {
			t.Errorf("handled %d times, %d done, %v", handled, n, err)
		}
		send(t, d.Queue, pushed("frozen", 1))
		var cause error
		n, err = d.Queue.Drain(t.Context(), Worker{Handle: func(ctx context.Context, m run.Message) error {
			if cause != nil {
				return nil
			}
			// Another process saw no sign of us and took the message.
			if _, err := d.Queue.db.exec(ctx, "UPDATE message SET claim = 'theirs', ready = ?", time.Now().Add(lease).UnixMilli()); err != nil {
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
		time.Sleep(run.Retention("delivery/old") - 30*time.Minute)
		put("delivery/new")
		has("delivery/old", true)
		ctx, cancel := context.WithTimeout(t.Context(), 61*time.Minute)
		defer cancel()
		if err := d.Queue.Work(ctx, Worker{}); err != nil {
			t.Fatal(err)
		}
		has("delivery/old", false)
		has("delivery/new", true)
		time.Sleep(run.Retention("delivery/new"))
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
	n, err := d.Queue.Drain(t.Context(), Worker{Limit: limit, Handle: func(ctx context.Context, m run.Message) error {
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
	for range run.MaxReceives + 1 {
		ctx, cancel := context.WithCancel(t.Context())
		if err := d.Queue.Work(ctx, Worker{Handle: func(ctx context.Context, m run.Message) error {
			cancel()
			<-ctx.Done()
			return ctx.Err()
		}}); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := d.Queue.Drain(t.Context(), Worker{Handle: func(context.Context, run.Message) error { return nil }}); n != 1 || err != nil {
		t.Errorf("%d done, %v", n, err)
	}
	send(t, d.Queue, pushed("b", 1))
	_, err := d.Queue.Drain(t.Context(), Worker{Handle: func(context.Context, run.Message) error { return errors.New("it fails") }})
	if err == nil || !strings.Contains(err.Error(), "give up message b: nobody takes it: it fails") {
		t.Errorf("nobody takes dead letters: %v", err)
	}
}

// TestMain is the test, or one of the processes that it starts.
func TestMain(m *testing.M) {
	if dir := os.Getenv("RUNLOCAL_TEST_DIR"); dir != "" {
		if err := child(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child handles messages by making a record of each, and says so before they are
// removed: then it may be killed.
func child(path string) error {
	d, err := Open(path)
	if err != nil {
		return err
	}
	_, err = d.Queue.Drain(context.Background(), Worker{Limit: 2, Handle: func(ctx context.Context, m run.Message) error {
		_, err := d.Records.Put(ctx, "effect/"+m.ID, []byte("done"), "")
		fmt.Println(m.ID)
		if errors.Is(err, run.ErrConflict) {
			err = nil // a process that died had done it
		}
		return err
	}})
	return err
}

func startChild(t *testing.T, path string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "RUNLOCAL_TEST_DIR="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd, bufio.NewReader(out)
}

// TestKill kills processes in the middle of their work, time and again, and holds that
// those after them do all of it.
func TestKill(t *testing.T) {
	t.Parallel()
	d := openDir(t)
	path := strings.TrimSuffix(d.States, "/states")
	const messages = 40
	for i := range messages {
		send(t, d.Queue, pushed(fmt.Sprint(i), i%3))
	}
	for range 4 { // none of them comes far
		cmd, out := startChild(t, path)
		for range 3 {
			if _, err := out.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		// What the dead had is free when its lease is over, and does not count as tries.
		if _, err := d.Queue.db.exec(t.Context(), "UPDATE message SET ready = 0, claim = '', receives = 0"); err != nil {
			t.Fatal(err)
		}
	}
	var together []*exec.Cmd
	for range 3 {
		cmd, out := startChild(t, path)
		go io.Copy(io.Discard, out)
		together = append(together, cmd)
	}
	for _, cmd := range together {
		if err := cmd.Wait(); err != nil {
			t.Errorf("a process failed: %v", err)
		}
	}
	done, err := d.Records.List(t.Context(), "effect")
	if err != nil || len(done) != messages {
		t.Errorf("%d of %d are done, %v", len(done), messages, err)
	}
	if n, err := d.Queue.Waiting(t.Context()); n != 0 || err != nil {
		t.Errorf("%d messages are left, %v", n, err)
	}
	var ok string
	if err := d.Records.db.db.QueryRow("PRAGMA integrity_check").Scan(&ok); err != nil || ok != "ok" {
		t.Errorf("the database: %s, %v", ok, err)
	}
}

// TestOpenTogether holds that many can make a data directory at the same time.
func TestOpenTogether(t *testing.T) {
	t.Parallel()
	for range 20 {
		path := t.TempDir()
		start := make(chan struct{})
		var all sync.WaitGroup
		for range 8 {
			d, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			all.Go(func() {
				<-start
				if _, err := d.Queue.Waiting(t.Context()); err != nil {
					t.Error(err)
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		close(start)
		all.Wait()
	}
}
