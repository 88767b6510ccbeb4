package localstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

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
// removed: then it may be killed. It begins a message for each byte of its input, and goes on
// alone after the end of that.
func child(path string) error {
	d, err := Open(path)
	if err != nil {
		return err
	}
	_, err = d.Queue.Drain(context.Background(), Worker{Limit: 2, Handle: func(ctx context.Context, m pipeline.Message) error {
		if _, err := os.Stdin.Read(make([]byte, 1)); err != nil && err != io.EOF {
			return err
		}
		_, err := d.Records.Put(ctx, "effect/"+m.ID, []byte("done"), "")
		fmt.Println(m.ID)
		if errors.Is(err, pipeline.ErrConflict) {
			err = nil // a process that died had done it
		}
		return err
	}})
	return err
}

// startChild starts a child that handles some messages, or all; what it prints is read by the
// caller.
func startChild(t *testing.T, path string, some int) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	if some > 0 {
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { in.Close() })
		defer fmt.Fprint(in, strings.Repeat(".", some))
	}
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
	const messages, all = 40, 0
	for i := range messages {
		send(t, d.Queue, pushed(fmt.Sprint(i), i%3))
	}
	for range 4 { // none of them comes far
		const said = 3
		cmd, out := startChild(t, path, said+1)
		for range said {
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
		cmd, out := startChild(t, path, all)
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
