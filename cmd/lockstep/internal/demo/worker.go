package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/localpipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/github"
)

// workerName is the name under which this program starts itself as another worker of a world.
const workerName = "lockstep-demo-worker"

// reached is the line that a worker prints when it has written the journal entry at which it may be killed.
const reached = "reached"

// workerSettings are the settings of a worker: the world whose messages it handles, and texts of a journal
// entry. When an entry contains all of them, the worker prints the line [reached].
type workerSettings struct {
	Dir, Version, URL string
	App               int64
	API, Key          string
	At                []string
	// Pace is how long each change takes after the journal entry for which the worker waits. With 0, the worker
	// stops at this entry and waits to be killed.
	Pace time.Duration
}

// Main must be the first call in main. In a process that is a worker of a story, or a tool of one, Main does its
// work and does not return.
func Main() {
	if os.Args[0] == checkerName {
		os.Exit(check(os.Args[1:], os.Stdout, os.Stderr))
	}
	if os.Args[0] == terragruntName {
		os.Exit(prepareUnits(os.Args[1:], os.Stdout, os.Stderr))
	}
	if os.Args[0] != workerName {
		return
	}
	if err := work(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// work handles messages until there are none left. At the journal entry that its settings name, it prints
// the line [reached]. Then it waits to be killed, or continues slowly if the settings have a pace. It ends
// when the process that has started it ends.
func work(ctx context.Context, in io.Reader, out io.Writer) error {
	var s workerSettings
	stdin := json.NewDecoder(in)
	if err := stdin.Decode(&s); err != nil {
		return fmt.Errorf("read the settings of the worker: %w", err)
	}
	serves, err := intake.ParseServes(served)
	if err != nil {
		return err
	}
	app, err := github.NewApp(github.AppConfig{ID: s.App, Key: github.NewSecret(s.Key), URL: s.API})
	if err != nil {
		return err
	}
	m := &moment{turns: make(chan struct{}, watched)}
	m.at(func() {
		fmt.Fprintln(out, reached)
		if m.pace == 0 {
			select {}
		}
		m.past.Store(true)
	}, s.At...)
	m.pace = s.Pace
	go func() {
		io.Copy(io.Discard, in)
		os.Exit(1)
	}()
	w, err := localpipeline.Open(localpipeline.Config{
		Serves: serves, Dir: s.Dir, Version: s.Version, App: app, Secret: secret, URL: s.URL,
		States: func(dir string) executor.BackendFunc { return watchedStates(executor.LocalStates(dir), m) },
		Events: m.event,
	})
	if err != nil {
		return err
	}
	w.Data.Queue.Lease = claimTime
	_, err = w.Settle(ctx)
	return errors.Join(err, w.Close())
}

// A helper is another process that handles the messages of a world. In its zero value, no process is running.
type helper struct {
	mu    sync.Mutex
	cmd   *exec.Cmd
	in    io.Closer
	ended chan struct{} // closed when the process has ended
	end   error         // how it ended; valid once ended is closed
}

// start starts another process for the waiting messages. It returns when the apply's journal has an entry
// that contains all texts in the parameter at.
func (w *World) start(ctx context.Context, h *helper, pace time.Duration, at ...string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start a worker: %w", err)
	}
	app := w.hub.App(w.api)
	settings, err := json.Marshal(workerSettings{
		Dir: w.data, Version: w.version, URL: w.URL, App: app.ID, API: app.URL, Key: w.hub.AppKey(), At: at, Pace: pace,
	})
	if err != nil {
		return err
	}
	// The other process cannot remove its temporary files when it is killed. So they are in this directory,
	// which this process removes.
	tmp, err := os.MkdirTemp(w.data, "killed-")
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, program)
	cmd.Args, cmd.Stderr, cmd.Env = []string{workerName}, &said, append(os.Environ(), "TMPDIR="+tmp, "TMP="+tmp)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a worker: %w", err)
	}
	_, err = in.Write(settings)
	line, reading := bufio.NewReader(out).ReadString('\n')
	h.mu.Lock()
	h.cmd, h.in, h.ended = cmd, in, make(chan struct{})
	h.mu.Unlock()
	go func() {
		h.end = cmd.Wait()
		close(h.ended)
	}()
	if strings.TrimSpace(line) != reached {
		h.kill()
		return errors.Join(err, reading, fmt.Errorf("the worker did not come to the moment of its end: %w: %s", h.end, said.String()))
	}
	return nil
}

// running reports whether the process is running.
func (h *helper) running() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cmd == nil {
		return false
	}
	select {
	case <-h.ended:
		return false
	default:
		return true
	}
}

// kill kills the process and waits until it has ended. It returns false if there is none.
func (h *helper) kill() bool {
	if !h.running() {
		return false
	}
	killed := h.cmd.Process.Kill() == nil
	<-h.ended
	h.in.Close()
	return killed
}

// killWorker starts another process for the waiting messages. It kills the process at the journal entry that
// contains all texts in the parameter at.
func (w *World) killWorker(ctx context.Context, at ...string) error {
	var h helper
	if err := w.start(ctx, &h, 0, at...); err != nil {
		return err
	}
	if !h.kill() {
		return errors.New("kill a worker: it has ended")
	}
	w.narrate("process %d is killed in the middle of the apply: %v", h.cmd.Process.Pid, h.end)
	return nil
}
