// Command lockstep plans and applies Terraform-language configurations, on the
// command line and for pull requests.
//
// Each sub-command has a file of its own, named after it. Messages have a form:
// results go to standard output, everything else to standard error, headed
// `lockstep: error:` where the trouble is the command line itself. This package is
// where everything is put together; it decides nothing that others could use.
package main

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

	"github.com/lockstep-iac/lockstep/engine/walk"
)

// version is Lockstep's own; the release sets it with -ldflags.
var version = "0.1.0-dev"

func main() {
	// A run is short: letting the heap grow is cheaper than collecting it often.
	debug.SetGCPercent(400)
	os.Exit(run(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}, os.Environ()))
}

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run runs one command line and returns its exit code. Our own bugs end up here:
// as a message that asks for a report rather than a stack trace.
func run(args []string, s streams, environ []string) (code int) {
	defer func() {
		if r := recover(); r != nil {
			code = crashed(s.err, r, environ)
		}
	}()
	ctx, stop := interruptible(s.err)
	defer stop()
	return newApp(ctx, s, environ).run(args)
}

// interruptible returns a context that ends with the first SIGINT or SIGTERM. The
// second one ends the process: whatever hangs then is not waited for.
func interruptible(stderr io.Writer) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
		case <-done:
			return
		}
		fmt.Fprintln(stderr, "\nInterrupt received.\nPlease wait for Lockstep to finish what is under way, or data loss may occur: nothing new is started.\nA second interrupt ends the process at once.")
		cancel(errors.New("interrupted"))
		select {
		case <-signals:
			fmt.Fprintln(stderr, "\nlockstep: error: two interrupts received: ended at once. What was under way is not known; the state may lack it.")
			os.Exit(1)
		case <-done:
		}
	}()
	return ctx, func() { signal.Stop(signals); close(done); cancel(nil) }
}

// crashed reports one of our own bugs.
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

// saveTrace keeps a stack trace where a person can find it.
func saveTrace(stack string) (string, error) {
	f, err := os.CreateTemp("", "lockstep-crash-*.txt")
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, err = io.WriteString(f, stack)
	return f.Name(), err
}
