package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	goplugin_runner "github.com/hashicorp/go-plugin/runner"
)

// runner is one process. go-plugin drives it; its notes on the way explain a failure
// afterwards.
type runner struct {
	launch Launch
	last   *lastWords
	done   chan struct{} // closed when the process was waited for

	mu        sync.Mutex // guards the fields below
	cmd       *exec.Cmd
	started   bool
	abandoned bool
	startErr  error
	killed    bool   // by us
	ended     bool   // it was to end: the run is over
	fellDumb  bool   // it closed standard output before we killed it
	outcome   string // how the process ended, once done is closed

	hello          handshakeLine
	stdout, stderr io.ReadCloser
}

var _ goplugin_runner.Runner = (*runner)(nil)

// prepare makes the command; go-plugin's has the environment of its own protocol.
func (r *runner) prepare(_ hclog.Logger, cmd *exec.Cmd, _ string) (goplugin_runner.Runner, error) {
	r.cmd = exec.Command(r.launch.Path, r.launch.Args...)
	r.cmd.Dir = r.launch.Dir
	r.cmd.Env = append(append([]string{}, r.launch.Env...), cmd.Env...)
	r.cmd.Stdin = nil // a prompt is for us to answer, never for a plugin
	endWithParent(r.cmd)
	var err error
	if r.stdout, err = r.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if r.stderr, err = r.cmd.StderrPipe(); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *runner) Start(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.abandoned {
		return context.Canceled
	}
	begin := r.launch.Begin
	if begin == nil {
		begin = (*exec.Cmd).Start
	}
	r.startErr = begin(r.cmd)
	r.started = r.startErr == nil
	return r.startErr
}

// Wait is called once, when both pipes are at their ends.
func (r *runner) Wait(context.Context) error {
	err := r.cmd.Wait()
	r.mu.Lock()
	r.outcome = outcome(r.cmd.ProcessState)
	r.mu.Unlock()
	close(r.done)
	return err
}

// pipeGrace is the time for reading the output of a process from before it was killed.
const pipeGrace = time.Second

// Kill ends the process at once. Closing our ends of the pipes as well, when its
// output has been read, makes sure that nobody waits for a grandchild that inherited them.
func (r *runner) Kill(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.started {
		return nil
	}
	r.killed = true
	err := r.cmd.Process.Kill()
	time.AfterFunc(pipeGrace, func() {
		r.stdout.Close()
		r.stderr.Close()
	})
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// abandon kills the process, or keeps it from being started.
func (r *runner) abandon() {
	r.mu.Lock()
	r.abandoned = true
	r.mu.Unlock()
	_ = r.Kill(context.Background())
}

// end asks the process to exit, and kills it if it takes too long. go-plugin alone
// would wait for ever for a plugin that hangs. A call under way fails.
func (r *runner) end(plugin *goplugin.Client) {
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	kill := time.AfterFunc(exitGrace, func() { _ = r.Kill(context.Background()) })
	defer kill.Stop()
	plugin.Kill()
}

// fate returns how the process ended, or "" if it has not within a moment: the
// connection breaks a little earlier than the process is waited for.
func (r *runner) fate() string {
	select {
	case <-r.done:
	case <-time.After(2 * time.Second):
		return ""
	}
	r.mu.Lock()
	how, ended := r.outcome, r.ended
	r.mu.Unlock()
	if ended {
		return "It was ended before it could answer. Its effects until then are not known."
	}
	text := fmt.Sprintf("The plugin crashed: its process ended with %s. Its effects until then are not known.", how)
	if how == "signal: killed" {
		return text + " Something outside killed it; often that is the system, when it runs out of memory."
	}
	text += " This is a bug in the provider, which should be reported to its authors."
	if words := r.last.String(); words != "" {
		text += " The last that it wrote (its log, with TF_LOG=ERROR, has all of it):\n\n" + words
	}
	return text
}

// outcome names how a process ended: "exit status 2", "signal: killed".
func outcome(s *os.ProcessState) string {
	return strings.TrimSuffix(s.String(), " (core dumped)")
}

// Stdout returns the plugin's output; its first line is the handshake.
func (r *runner) Stdout() io.ReadCloser { return watchedOutput{r} }

// watchedOutput is a plugin's standard output, with an eye on it.
type watchedOutput struct{ r *runner }

func (w watchedOutput) Read(p []byte) (int, error) {
	n, err := w.r.stdout.Read(p)
	w.r.hello.add(p[:n])
	if err == io.EOF {
		w.r.mu.Lock()
		w.r.fellDumb = !w.r.killed
		w.r.mu.Unlock()
	}
	return n, err
}

func (w watchedOutput) Close() error { return w.r.stdout.Close() }

func (r *runner) Stderr() io.ReadCloser { return r.stderr }

func (r *runner) Name() string { return r.launch.Path }

// ID is never empty, so that go-plugin cleans up also after a process that could not be started.
func (r *runner) ID() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.started {
		return "not started"
	}
	return fmt.Sprint(r.cmd.Process.Pid)
}

// Diagnose leaves it to explain.
func (r *runner) Diagnose(context.Context) string { return "" }

// PluginToHost and HostToPlugin change nothing: plugins run where we do.
func (r *runner) PluginToHost(network, addr string) (string, string, error) {
	return network, addr, nil
}

func (r *runner) HostToPlugin(network, addr string) (string, string, error) {
	return network, addr, nil
}
