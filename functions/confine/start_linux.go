package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Process is a child process with all its descendants.
type Process struct {
	cmd  *exec.Cmd
	life *os.File // closing it ends the child
	kill chan Reason
	done chan struct{}
	end  End
	// seen are the descendants that the last measurement found. Only the goroutine that runs watch uses it.
	seen       map[task]bool
	namespaces bool // the child has some of its own
}

// Start starts a child process. If this process dies, the child and all its descendants are killed.
func Start(s Spec) (*Process, error) {
	if !probed {
		return nil, errors.New("start a process for the run: the program's main does not call confine.Probe")
	}
	n := names()
	if s.Without || s.Foreign {
		n = namespaces{why: "they are left out"}
	}
	p, err := s.start(n)
	if err != nil {
		return nil, fmt.Errorf("start a process for the run: %w", err)
	}
	return p, nil
}

func (s Spec) start(n namespaces) (*Process, error) {
	told, err := json.Marshal(orders{Limits: s.Limits, Namespaces: n.why == "", Why: n.why})
	if err != nil {
		return nil, err
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	p := &Process{life: ours, kill: make(chan Reason, 1), done: make(chan struct{}), seen: map[task]bool{}, namespaces: n.why == ""}
	p.cmd = exec.Command(s.Path, s.Args...)
	p.cmd.Env = append([]string{}, s.Env...)
	if !s.Foreign {
		p.cmd.Args[0] = os.Args[0] // programs with several names choose by it
		p.cmd.Env = append(p.cmd.Env, variable+"="+string(told))
	}
	p.cmd.Dir, p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = s.Dir, s.Stdin, s.Stdout, s.Stderr
	p.cmd.ExtraFiles = append([]*os.File{theirs}, s.Files...)
	// Descendants can keep pipes open, but Wait need not wait for that: all descendants are killed.
	p.cmd.WaitDelay = killTime
	p.cmd.SysProcAttr = n.attributes()
	failed := make(chan error)
	go func() {
		// For the kernel, the parent of a child is the thread that started the child. So this thread must live
		// as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := started(func() (int, error) {
			if err := p.cmd.Start(); err != nil {
				return 0, err
			}
			return p.cmd.Process.Pid, nil
		})
		failed <- err
		if err == nil {
			p.watch(s)
		}
	}()
	if err := <-failed; err != nil {
		ours.Close()
		return nil, err
	}
	return p, nil
}

// Kill kills the child and all its descendants. It returns at once.
func (p *Process) Kill() {
	select {
	case p.kill <- Killed:
	default: // it is already being killed
	}
}

// Stop asks the child to stop, by SIGTERM. It returns at once.
func (p *Process) Stop() { _ = p.cmd.Process.Signal(syscall.SIGTERM) }

// Wait waits until the child has ended and none of its descendants is left.
func (p *Process) Wait() End {
	<-p.done
	return p.end
}

// Done returns a channel that is closed when the child has ended and none of its descendants is left.
func (p *Process) Done() <-chan struct{} { return p.done }

// finish kills the remaining descendants, after the child itself has ended. It records how the child ended.
func (p *Process) finish() {
	p.life.Close()
	for t := range p.seen {
		t.kill()
	}
	ended(p.cmd.Process.Pid)
	endOrphans()
	if s := p.cmd.ProcessState; s != nil {
		p.end.Code = s.ExitCode()
		if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
			p.end.Signal = w.Signal().String()
		}
	}
	close(p.done)
}

// namespaces says whether children get namespaces. why is the reason if they do not; "" if they do.
type namespaces struct{ why string }

// attributes returns the attributes for starting a child. With namespaces, the child is the first process of
// its PID namespace, so that all its descendants die with it. The user stays the same.
func (n namespaces) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true}
	if n.why != "" {
		return a
	}
	a.Pdeathsig = syscall.SIGKILL
	a.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	// The child needs these capabilities for mounts, and for dropping capabilities.
	a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}
	return a
}

// names finds out, once in a process, whether the kernel lets this process create namespaces. The kernel may
// forbid them, or give them without their usual rights.
var names = sync.OnceValue(func() namespaces {
	self, err := os.Executable()
	if err != nil {
		return namespaces{err.Error()}
	}
	dir, err := os.MkdirTemp("", "lockstep-probe-*")
	if err != nil {
		return namespaces{err.Error()}
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command(self)
	cmd.Args[0] = os.Args[0]
	cmd.Env = []string{probeVariable + "=" + dir}
	cmd.SysProcAttr = namespaces{}.attributes()
	err = started(func() (int, error) {
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		return cmd.Process.Pid, nil
	})
	if err == nil {
		err = cmd.Wait()
		ended(cmd.Process.Pid)
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return namespaces{}
	case errors.As(err, &exit):
		return namespaces{"this system allows namespaces, but not mounts in them"}
	}
	return namespaces{fmt.Sprintf("this system does not allow namespaces (%v)", errors.Unwrap(err))}
})

// probeVariable is an environment variable. It is set in a process that tests whether namespaces work; its
// value is the directory for the test.
const probeVariable = "LOCKSTEP_CONFINE_PROBE"

// probed is set once main has called [Probe]. [Start] requires that.
var probed bool

// Probe must be the first call of a main that uses [Start]. Start runs this program once more, to test whether
// namespaces work. In such a process, Probe makes the test and does not return.
func Probe() {
	probed = true
	dir := os.Getenv(probeVariable)
	if dir == "" {
		return
	}
	code := make(chan int)
	go func() {
		runtime.LockOSThread()
		if err := showOnly(View{Tmp: dir}); err != nil {
			code <- 1
		}
		code <- 0
	}()
	os.Exit(<-code)
}
