package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	goplugin_runner "github.com/hashicorp/go-plugin/runner"
)

// runner is one process. go-plugin controls it. The runner records what happens, to explain a failure later.
type runner struct {
	launch Launch
	last   *lastWords
	done   chan struct{} // closed when the end of the process is known

	mu        sync.Mutex // guards the fields below
	cmd       *exec.Cmd
	started   bool
	abandoned bool
	startErr  error
	killed    bool   // by us
	ended     bool   // it was asked to end, since the run is over
	fellDumb  bool   // it closed standard output before we killed it
	outcome   string // how the process ended, once done is closed

	hello          handshakeLine
	stdout, stderr io.ReadCloser
}

var _ goplugin_runner.Runner = (*runner)(nil)

// prepare creates the command. It takes from go-plugin's command only the environment variables of
// go-plugin's own protocol.
func (r *runner) prepare(_ hclog.Logger, cmd *exec.Cmd, _ string) (goplugin_runner.Runner, error) {
	r.cmd = exec.Command(r.launch.Path, r.launch.Args...)
	r.cmd.Dir = r.launch.Dir
	r.cmd.Env = append(append(r.launch.quiet(), r.launch.Env...), cmd.Env...)
	r.cmd.Stdin = nil // only this program may answer prompts, never a plugin
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

// quiet returns the variables that turn off the log of a plugin if nobody reads it. Without them, the plugin libraries
// write a line for each step of each call, which take more time than many calls. Variables in Env count before these.
// Source: terraform-plugin-log 0.11.0, whose loggers have the level TRACE unless a variable says otherwise.
func (l Launch) quiet() []string {
	if l.LogLevel != "" && l.LogLevel != "OFF" || slices.ContainsFunc(l.Env, func(v string) bool { return strings.HasPrefix(v, "TF_LOG") }) {
		return nil
	}
	return []string{"TF_LOG_SDK=off", "TF_LOG_SDK_FRAMEWORK=off", "TF_LOG_SDK_PROTO=off", "TF_LOG_PROVIDER=off"}
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

// Wait waits for the end of the process. go-plugin calls it once, after it has read both pipes to the end.
func (r *runner) Wait(context.Context) error {
	err := r.cmd.Wait()
	r.mu.Lock()
	r.outcome = outcome(r.cmd.ProcessState)
	r.mu.Unlock()
	close(r.done)
	return err
}

// pipeGrace is the time for reading the output that a process wrote before it was killed.
const pipeGrace = time.Second

// Kill ends the process at once. After the output of the process has been read, Kill also closes this process's
// ends of the pipes. Otherwise a grandchild that has inherited the pipes could keep readers waiting.
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

// abandon kills the process, or prevents its start.
func (r *runner) abandon() {
	r.mu.Lock()
	r.abandoned = true
	r.mu.Unlock()
	_ = r.Kill(context.Background())
}

// end asks the process to exit, and kills it if that takes too long. go-plugin alone would wait for ever for
// a plugin that hangs. A running call fails.
func (r *runner) end(plugin *goplugin.Client) {
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	kill := time.AfterFunc(exitGrace, func() { _ = r.Kill(context.Background()) })
	defer kill.Stop()
	plugin.Kill()
}

// fate returns how the process ended, or "" if it does not end within a short time. The short wait is needed
// since the connection breaks a little before the end of the process is known.
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

// outcome describes in words how a process ended: "exit status 2", "signal: killed".
func outcome(s *os.ProcessState) string {
	return strings.TrimSuffix(s.String(), " (core dumped)")
}

// Stdout returns the plugin's output; its first line is the handshake.
func (r *runner) Stdout() io.ReadCloser { return watchedOutput{r} }

// watchedOutput is a plugin's standard output. It records the handshake line and the end of the output.
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

func (r *runner) Stderr() io.ReadCloser {
	if r.launch.logs() {
		return newLogLines(r.stderr)
	}
	return r.stderr
}

func (r *runner) Name() string { return r.launch.Path }

// ID returns a name of the process. It is never empty, so that go-plugin also cleans up after a process that
// could not be started.
func (r *runner) ID() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.started {
		return "not started"
	}
	return fmt.Sprint(r.cmd.Process.Pid)
}

// Diagnose implements go-plugin's interface. It returns "", since [runner.explain] describes failures.
func (r *runner) Diagnose(context.Context) string { return "" }

// PluginToHost and HostToPlugin change no address: plugins run on the same machine.
func (r *runner) PluginToHost(network, addr string) (string, string, error) {
	return network, addr, nil
}

func (r *runner) HostToPlugin(network, addr string) (string, string, error) {
	return network, addr, nil
}
