//go:build !linux

package confine

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// elsewhere is the reason why protections are missing on operating systems other than Linux.
const elsewhere = "it exists on Linux only"

// variable is an environment variable. It is set in processes that [Start] has started.
const variable = "LOCKSTEP_CONFINED"

// File descriptors of a child, after the standard three. lifeline is closed when the parent ends. The files of
// [Spec.Files] begin at FirstFile.
const (
	lifeline  = 3
	FirstFile = 4
)

// A CellSpec says which rights the programs in a cell keep.
type CellSpec struct {
	View    View
	Ports   []int
	Offline bool
	Without struct{ Namespaces, Landlock, Seccomp bool }
}

// A Cell starts programs. On this operating system it offers no protection.
type Cell struct{}

// NewCell returns a cell without protections. It returns an error if s.Offline is set, because it cannot cut
// off networks on this operating system.
func NewCell(s CellSpec) (*Cell, error) {
	if s.Offline {
		return nil, fmt.Errorf("close the network to programs: %s", elsewhere)
	}
	return &Cell{}, nil
}

// Protection returns which protections of the cell are in force: none.
func (*Cell) Protection() Protection {
	return Protection{elsewhere, elsewhere, elsewhere, elsewhere, elsewhere, elsewhere}
}

// Start starts a command.
func (*Cell) Start(cmd *exec.Cmd) error { return cmd.Start() }

// Adopt does nothing: on this operating system a process cannot adopt orphans.
func Adopt() error { return nil }

// Probe does nothing, because this system has no namespaces to test.
func Probe() {}

// Confined reports whether this process was started by [Start].
func Confined() bool { return os.Getenv(variable) != "" }

// Enter makes this process end when its parent ends. On this operating system it does nothing else.
func Enter() error {
	os.Unsetenv(variable)
	go func() {
		io.Copy(io.Discard, os.NewFile(lifeline, "lifeline"))
		os.Exit(113)
	}()
	return nil
}

// Leave ends this child process. code is the exit code.
func Leave(code int) { os.Exit(code) }

// A Process is a child process. On this operating system only its elapsed time is limited, and its descendants
// are not watched.
type Process struct {
	cmd  *exec.Cmd
	life *os.File
	mu   sync.Mutex
	done chan struct{}
	end  End
}

// Start starts a child process.
func Start(s Spec) (*Process, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	p := &Process{life: ours, done: make(chan struct{})}
	p.cmd = exec.Command(s.Path, s.Args...)
	p.cmd.Env = append([]string{}, s.Env...)
	if !s.Foreign {
		p.cmd.Args[0] = os.Args[0] // programs with several names choose by it
		p.cmd.Env = append(p.cmd.Env, variable+"=1")
	}
	p.cmd.Dir, p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr, p.cmd.WaitDelay = s.Dir, s.Stdin, s.Stdout, s.Stderr, killTime
	p.cmd.ExtraFiles = append([]*os.File{theirs}, s.Files...)
	if err := p.cmd.Start(); err != nil {
		ours.Close()
		return nil, fmt.Errorf("start a process for the run: %w", err)
	}
	if s.Limits.Wall > 0 {
		time.AfterFunc(s.Limits.Wall, func() { p.killFor(Wall) })
	}
	go func() {
		p.cmd.Wait()
		ours.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.end.Code = p.cmd.ProcessState.ExitCode()
		close(p.done)
	}()
	return p, nil
}

func (p *Process) killFor(r Reason) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd.Process.Kill() == nil && p.end.Reason == "" {
		p.end.Reason = r
	}
}

// Kill kills the child.
func (p *Process) Kill() { p.killFor(Killed) }

// Stop asks the child to stop, by SIGTERM. It returns at once.
func (p *Process) Stop() { _ = p.cmd.Process.Signal(syscall.SIGTERM) }

// Wait waits until the child has ended.
func (p *Process) Wait() End {
	<-p.done
	return p.end
}

// Done returns a channel that is closed when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }
