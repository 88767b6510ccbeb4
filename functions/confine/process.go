package confine

import (
	"fmt"
	"io"
	"os"
	"time"
)

// A Spec is a child to start.
type Spec struct {
	// Path is the program: ours, whose main calls [Enter] if it is [Confined]. Env is its whole
	// environment, except for the variable that marks a child.
	Path string
	Args []string // without the program's name
	Env  []string
	Dir  string
	// Files are its open files from the number [FirstFile] on. Start does not close them.
	Files []*os.File
	// Foreign is set for a program that is not ours, of the machine's owner: it gets no namespaces and no rights taken, and
	// only the limits that its parent watches.
	Foreign bool
	// Stdin is its input; nil: there is none. Stdout gets its output; nil discards it.
	Stdin  io.Reader
	Stdout io.Writer
	// Stderr gets the last words of the child or its runtime; nil discards them.
	Stderr io.Writer
	Limits Limits
	// Dirs are the directories whose bytes count for Limits.Disk.
	Dirs []string
	// Without leaves out namespaces: to measure, and where no programs are started.
	Without bool
}

// A Reason is the limit at which a process was killed; "" if none.
type Reason string

const (
	Memory    Reason = "memory"
	CPU       Reason = "processor time"
	Wall      Reason = "time"
	Disk      Reason = "disk"
	Processes Reason = "processes"
	Killed    Reason = "killed" // by [Process.Kill]
)

// An End describes the end of a process. None of its descendants is left then.
type End struct {
	// Reason is the limit at which it was killed.
	Reason Reason
	// Used is the measure at that time: bytes, nanoseconds, processes.
	Used int64
	// Code is its exit code; Signal the signal that ended it, if one did.
	Code   int
	Signal string
}

// String is for people: "exit status 2".
func (e End) String() string {
	switch {
	case e.Reason != "":
		return fmt.Sprintf("killed at the limit of %s", e.Reason)
	case e.Signal != "":
		return "signal: " + e.Signal
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

// killTime is the limit for killing descendants, however fast they multiply.
const killTime = 20 * time.Second
