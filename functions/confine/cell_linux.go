package confine

import (
	"fmt"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// A CellSpec says what programs in a cell are left with.
type CellSpec struct {
	View View
	// Ports are TCP ports, of any host, that are closed to them: our own on this machine.
	Ports []int
	// Without leaves out ways of protection that the kernel offers: for measuring what the
	// others hold.
	Without struct{ Namespaces, Landlock, Seccomp bool }
}

// A Cell starts programs on a thread that has given up what they must not have: what is
// started there has it neither, and nothing that it starts in turn. It lasts as long as our
// process. It may be used by many goroutines.
type Cell struct {
	protection Protection
	starts     chan start
}

type start struct {
	cmd  *exec.Cmd
	done chan error
}

// NewCell makes a cell, in a process that [Enter] was called in. The error says that a way of
// protection that was begun has failed half-way: then nothing must be started.
func NewCell(s CellSpec) (*Cell, error) {
	c := &Cell{starts: make(chan start)}
	orphans := &reaper{ours: map[int]bool{}}
	go orphans.run()
	ready := make(chan error)
	go func() {
		// The thread is never unlocked: nobody else must get it. It outlives what it starts,
		// for the kernel ends what is to die with its parent when the parent's thread ends.
		runtime.LockOSThread()
		ready <- c.close(s)
		for x := range c.starts {
			// In a group of its own it can be killed as one.
			if x.cmd.SysProcAttr == nil {
				x.cmd.SysProcAttr = &syscall.SysProcAttr{}
			}
			x.cmd.SysProcAttr.Setpgid = true
			x.done <- orphans.start(func() (int, error) {
				if err := x.cmd.Start(); err != nil {
					return 0, err
				}
				return x.cmd.Process.Pid, nil
			})
		}
	}()
	if err := <-ready; err != nil {
		return nil, fmt.Errorf("protect others from programs: %w", err)
	}
	return c, nil
}

// Protection says what is in force.
func (c *Cell) Protection() Protection { return c.protection }

// Start starts a command in the cell. Its directory and its program must be in the view.
func (c *Cell) Start(cmd *exec.Cmd) error {
	x := start{cmd, make(chan error)}
	c.starts <- x
	return <-x.done
}

// close makes the calling thread the cell's. The order matters: mounts need rights, and
// Landlock forbids them; the filter comes last, for it refuses calls that the rest needs.
func (c *Cell) close(s CellSpec) error {
	p := &c.protection
	switch {
	case s.Without.Namespaces:
		p.Namespaces = "they are left out"
	case !inside.namespaces:
		p.Namespaces = inside.why
	default:
		if err := showOnly(s.View); err != nil {
			return err
		}
	}
	// Programs that take all of the processors' time must not keep us from seeing it.
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, niceness)
	if err := noNewPrivileges(); err != nil {
		return err
	}
	if err := giveUpRights(); err != nil {
		return err
	}
	if err := c.landlock(s); err != nil {
		return err
	}
	if s.Without.Seccomp {
		p.Calls = "they are left out"
	} else if err := refuseCalls(); err != nil {
		p.Calls = err.Error()
	}
	return nil
}

// niceness is how much programs give way to us.
const niceness = 5

// landlock applies what the kernel's version of Landlock has.
func (c *Cell) landlock(s CellSpec) error {
	p := &c.protection
	version, err := landlockVersion()
	if s.Without.Landlock {
		version, err = 0, fmt.Errorf("it is left out")
	}
	if err != nil {
		p.Files, p.Network, p.Signals = err.Error(), err.Error(), err.Error()
		return nil
	}
	old := fmt.Sprintf("this kernel's Landlock has version %d only", version)
	switch {
	case version < 4:
		p.Network = old
	case len(s.Ports) > 0:
		if err := restrictPorts(s.Ports); err != nil {
			return err
		}
	}
	if version < 6 {
		p.Signals = old
	}
	v := s.View
	v.Write = append([]string{v.Tmp}, v.Write...)
	return restrictFiles(version, v, version >= 6)
}
