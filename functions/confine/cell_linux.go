package confine

import (
	"fmt"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// A CellSpec says which rights the programs in a cell keep.
type CellSpec struct {
	View View
	// Ports are TCP ports to which the programs cannot connect on any host. They are the ports on which
	// Lockstep listens on this machine.
	Ports []int
	// Offline cuts the programs off from every network. If the kernel cannot do that, NewCell returns an error.
	Offline bool
	// Without switches off some protections, so that a test can check the remaining ones.
	Without struct{ Namespaces, Landlock, Seccomp bool }
}

// A Cell starts programs on a thread that has given up dangerous rights. The programs and all their descendants
// lack these rights, too. A cell exists until this process ends. It is safe for concurrent use.
type Cell struct {
	protection Protection
	starts     chan start
}

type start struct {
	cmd  *exec.Cmd
	done chan error
}

// NewCell makes a cell. The process must have called [Enter]. If NewCell returns an error, the caller must not
// start any program, because some protections may be missing.
func NewCell(s CellSpec) (*Cell, error) {
	c := &Cell{starts: make(chan start)}
	orphans := reaping()
	ready := make(chan error)
	go func() {
		// The thread stays locked, so that no other goroutine runs on it. It must live longer than the programs
		// that it starts: if a thread ends, the kernel kills its children that have a parent-death signal.
		runtime.LockOSThread()
		ready <- c.close(s)
		for x := range c.starts {
			// The program gets its own process group, so that it can be killed together with its descendants.
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

// Protection returns which protections of the cell are in force.
func (c *Cell) Protection() Protection { return c.protection }

// Start starts a command in the cell. The command's directory and its program must be visible in the cell (see
// [View]).
func (c *Cell) Start(cmd *exec.Cmd) error {
	x := start{cmd, make(chan error)}
	c.starts <- x
	return <-x.done
}

// close gives up the rights of the calling thread. The order of the steps matters. Mounts come first: they need
// rights, and Landlock forbids them. The seccomp filter comes last, because it refuses system calls that the
// other steps make.
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
	// The programs have a lower priority than Lockstep, which must watch them even if they use all processor
	// time.
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
	} else if err := refuseCalls(s.Offline); err != nil {
		p.Calls = err.Error()
	}
	if s.Offline && p.Calls != "" {
		return fmt.Errorf("close the network to them: %s", p.Calls)
	}
	return nil
}

// niceness is the nice value of the programs in a cell, which gives them a lower priority than this process
// has.
const niceness = 5

// landlock applies the restrictions that the kernel's version of Landlock supports.
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
