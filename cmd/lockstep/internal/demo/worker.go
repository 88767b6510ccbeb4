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

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/localpipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/github"
)

// workerName is the name by which this program starts itself as another worker of a world.
const workerName = "lockstep-demo-worker"

// reached is what a worker says when it is where it is to be killed.
const reached = "reached"

// workerSettings are for a worker: where the world is, and the entry of the journal after which it
// does nothing any more.
type workerSettings struct {
	Dir, Version, URL string
	App               int64
	API, Key          string
	At                []string
}

// Main is for mains, first of all: a process that is a worker of a story does its work here, and Main
// does not return.
func Main() {
	if os.Args[0] != workerName {
		return
	}
	if err := work(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// work handles messages until there are none left, or until the moment of its settings. From then on
// it waits to be killed; it ends with whoever has started it.
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
	m := new(moment)
	m.at(func() {
		fmt.Fprintln(out, reached)
		io.Copy(io.Discard, in)
		os.Exit(1)
	}, s.At...)
	w, err := localpipeline.Open(localpipeline.Config{
		Serves: serves, Dir: s.Dir, Version: s.Version, App: app, Secret: secret, URL: s.URL,
		States: func(dir string) executor.BackendFunc { return watchedStates(executor.LocalStates(dir), m) },
	})
	if err != nil {
		return err
	}
	w.Data.Queue.Lease = claimTime
	_, err = w.Settle(ctx)
	return errors.Join(err, w.Close())
}

// killWorker starts another process for the messages that wait, and kills it after an entry with some
// texts in the journal of its apply.
func (w *World) killWorker(ctx context.Context, at ...string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start a worker: %w", err)
	}
	app := w.hub.App(w.api)
	settings, err := json.Marshal(workerSettings{
		Dir: w.data, Version: w.version, URL: w.URL, App: app.ID, API: app.URL, Key: w.hub.AppKey(), At: at,
	})
	if err != nil {
		return err
	}
	// Who is killed leaves files behind.
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
	if strings.TrimSpace(line) != reached {
		in.Close()
		return errors.Join(err, reading, fmt.Errorf("the worker did not come to the moment of its end: %w: %s", cmd.Wait(), said.String()))
	}
	defer in.Close()
	if err := cmd.Process.Kill(); err != nil {
		return fmt.Errorf("kill a worker: %w", err)
	}
	w.narrate("process %d is killed in the middle of the apply: %v", cmd.Process.Pid, cmd.Wait())
	return nil
}
