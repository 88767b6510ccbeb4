package confine

import (
	"fmt"
	"io"
	"os"
	"time"
)

// A Spec is a child to start.
type Spec struct {
	// Path is the program: ours, whose main calls [Enter] if it is [Confined]. Env is all of
	// its environment, but for what tells it that it is a child.
	Path string
	Args []string // without the program's name
	Env  []string
	Dir  string
	// Files are open in it from the number [FirstFile] on. They are not closed here.
	Files []*os.File
	// Stderr is written what it, or the runtime, says last; nil is nowhere.
	Stderr io.Writer
	Limits Limits
	// Dirs are the directories whose bytes count for Limits.Disk.
	Dirs []string
	// Without leaves out namespaces: for measuring, and where no programs are started.
	Without bool
}

// A Reason says which limit a process was killed at; "" none.
type Reason string

const (
	Memory    Reason = "memory"
	CPU       Reason = "processor time"
	Wall      Reason = "time"
	Disk      Reason = "disk"
	Processes Reason = "processes"
	Killed    Reason = "killed" // by [Process.Kill]
)

// An End is how a process ended. None of its descendants is left then.
type End struct {
	// Reason is the limit that it was killed at.
	Reason Reason
	// Used is what was measured when it was killed: bytes, nanoseconds, processes.
	Used int64
	// Code is its exit code, and Signal the signal that ended it, if one did.
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

// killTime is how long killing descendants may take, however fast they make new ones.
const killTime = 20 * time.Second
