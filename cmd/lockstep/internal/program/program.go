// Package program runs a command line in a process: it runs a command of its table, handles signals, and
// reports a crash. [Engine] is the table of the commands that need only the engine, and not the pipeline. This
// package's tests use only these commands. So no change in the pipeline can affect the tests. Start at
// [Program.Run].
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/changing"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/walk"
)

// A Program is lockstep with some or all of its commands.
type Program struct {
	Version  string // Lockstep's own
	Commands cli.Table
}

// Main runs the command line of this process, and ends the process with its exit code.
func (p Program) Main() {
	changing.SpareTime()
	os.Exit(p.Run(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Environ()))
}

// Run runs one command line and returns its exit code. If a bug in Lockstep causes a panic, Run prints a
// message that asks the user to report the bug, rather than a stack trace.
func (p Program) Run(args []string, s cli.Streams, environ []string) (code int) {
	defer func() {
		if r := recover(); r != nil {
			code = crashed(s.Err, r, environ)
		}
	}()
	app := make(chan *cli.App, 1)
	i := watchInterrupts(func(text string) {
		a := <-app
		a.Notify(text)
		app <- a
	})
	defer i.stop()
	a := cli.New(i.ctx, s, environ)
	app <- a
	a.Hurry, a.Version, a.Commands = i.hurry, p.Version, p.Commands
	return a.Run(args)
}

// interrupts are three stages of interrupting a command. Each SIGINT, SIGTERM or SIGHUP begins the next stage,
// which is more urgent: see [watchInterrupts].
type interrupts struct {
	ctx   context.Context // ends with the first: no new action starts
	hurry chan struct{}   // closed by the second: actions in progress are stopped
	stop  func()
}

// savingTime is the time limit for saving the state and releasing its lock after a second interrupt.
const savingTime = 15 * time.Second

// watchInterrupts starts to handle signals. After the first signal, actions in progress are finished. The
// second signal kills the provider plugins, and the state is saved at once. The process ends at the third
// signal, or when savingTime has passed since the second. notify is called with a text for the user at each
// stage.
func watchInterrupts(notify func(text string)) interrupts {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // by nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	// If the program that reads the output ends, this process gets SIGPIPE, but actions in progress must
	// finish. The signal is caught rather than ignored. Otherwise, plugins and provisioners would ignore it,
	// too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	i := interrupts{ctx: ctx, hurry: make(chan struct{})}
	done := make(chan struct{})
	i.stop = func() { signal.Stop(signals); close(done); cancel(nil) }
	go func() {
		if !received(signals, done) {
			return
		}
		notify("\nInterrupt received.\nPlease wait: Lockstep finishes the actions in progress and starts no others.\nA second interrupt ends them at once. The state may then lack objects that\nproviders are creating.\n")
		cancel(errors.New("interrupted"))
		if !received(signals, done) {
			return
		}
		notify("\nTwo interrupts received. Lockstep ends the providers, and saves the state.\n")
		close(i.hurry)
		select {
		case <-signals:
		case <-time.After(savingTime):
		case <-done:
			return
		}
		notify("\nlockstep: error: ended before the state was saved\nlockstep: hint: the state may lack the last changes, and may still be locked. Run `lockstep recover`\n")
		os.Exit(1)
	}()
	return i
}

// received waits for a signal, and returns true. It returns false if done is closed first, because the command
// has ended.
func received(signals <-chan os.Signal, done <-chan struct{}) bool {
	select {
	case <-signals:
		return true
	case <-done:
		return false
	}
}

// crashed prints a message about a panic in Lockstep, and returns the exit code. r is the value of the panic.
func crashed(w io.Writer, r any, environ []string) int {
	stack := string(debug.Stack())
	var p *walk.Panic
	if err, ok := r.(error); ok && errors.As(err, &p) {
		r, stack = p.Value, string(p.Stack)
	}
	fmt.Fprintf(w, "lockstep: error: this is a bug in Lockstep: %v\n", r)
	fmt.Fprintln(w, "lockstep: hint: please report it, with the command line and, if you can, the configuration: https://github.com/lockstep-iac/lockstep/issues")
	if path, err := saveTrace(stack); err == nil {
		fmt.Fprintf(w, "lockstep: hint: details for the report are in %s\n", path)
	}
	for _, kv := range environ {
		if strings.HasPrefix(kv, "LOCKSTEP_TRACE=") {
			fmt.Fprintln(w, stack)
		}
	}
	return 11
}

// saveTrace writes a stack trace to a file, and returns its path.
func saveTrace(stack string) (string, error) {
	f, err := os.CreateTemp("", "lockstep-crash-*.txt")
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, err = io.WriteString(f, stack)
	return f.Name(), err
}
