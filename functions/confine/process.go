package confine

import (
	"fmt"
	"io"
	"os"
	"time"
)

// A Spec describes a child process to start.
type Spec struct {
	// Path is the path of the program. Unless Foreign is set, it must be one of Lockstep's programs: its main
	// calls [Enter] if it is [Confined]. Env is the whole environment of the child; Start adds only the
	// variable that marks a child.
	Path string
	Args []string // without the program's name
	Env  []string
	Dir  string
	// Files are open files for the child, from the descriptor [FirstFile] on. Start does not close them.
	Files []*os.File
	// Foreign is set for a program that is not Lockstep's, but that the machine's owner trusts. It gets no
	// namespaces and gives up no rights. Only the limits that the parent watches apply to it.
	Foreign bool
	// Stdin is the child's standard input; nil means no input. Stdout receives its standard output; nil
	// discards it.
	Stdin  io.Reader
	Stdout io.Writer
	// Stderr receives the child's standard error, such as a panic of its runtime; nil discards it.
	Stderr io.Writer
	Limits Limits
	// Dirs are the directories whose bytes count for Limits.Disk.
	Dirs []string
	// Without starts the child without namespaces. It is for measurements, and for children that start no
	// programs.
	Without bool
}

// A Reason is the limit above which a process was killed; "" if it was not killed for a limit.
type Reason string

const (
	Memory    Reason = "memory"
	CPU       Reason = "processor time"
	Wall      Reason = "time"
	Disk      Reason = "disk"
	Processes Reason = "processes"
	Killed    Reason = "killed" // by [Process.Kill]
)

// An End says how a process ended. At that time, none of its descendants is left.
type End struct {
	// Reason is the limit because of which the process was killed; "" if it was not killed for a limit.
	Reason Reason
	// Used is the value that was above the limit: bytes, nanoseconds or a number of processes.
	Used int64
	// Code is the exit code. Signal is the signal that ended the process; "" if none did.
	Code   int
	Signal string
}

// String returns a text for people, such as "exit status 2".
func (e End) String() string {
	switch {
	case e.Reason != "":
		return fmt.Sprintf("killed at the limit of %s", e.Reason)
	case e.Signal != "":
		return "signal: " + e.Signal
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

// killTime is the time limit for killing all descendants. They may start new processes in the meantime.
const killTime = 20 * time.Second
