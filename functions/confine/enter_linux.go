package confine

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"
)

// variable is the environment variable that says to a process that [Start] started it.
const variable = "LOCKSTEP_CONFINED"

// orders are the parent's instructions to the child. The environment variable [variable] contains them.
type orders struct {
	Limits     Limits
	Namespaces bool
	Why        string // the reason why there are no namespaces
}

// inside says what [Enter] found out, if this process is a child.
var inside struct {
	namespaces bool
	why        string
}

// File descriptors of a child after the first three: lifeline is closed when the parent ends; the files of
// [Spec.Files] start at FirstFile.
const (
	lifeline  = 3
	FirstFile = 4
)

// Confined reports whether [Start] started this process. If so, main has to call [Enter].
func Confined() bool { return os.Getenv(variable) != "" }

// maxStack is the stack limit of one goroutine, in bytes. Endless recursion ends within milliseconds, before it
// uses all memory.
const maxStack = 64 << 20

// Enter makes this process a confined child: it applies the limits, adopts the orphans of its descendants, and
// hides its memory and environment from processes of the same user. When the parent ends, this process and all
// its descendants end, too.
func Enter() error {
	var o orders
	if err := json.Unmarshal([]byte(os.Getenv(variable)), &o); err != nil {
		return fmt.Errorf("read %s: %w", variable, err)
	}
	os.Unsetenv(variable)
	inside.namespaces, inside.why = o.Namespaces, o.Why
	if err := subreaper(); err != nil {
		return err
	}
	if err := o.Limits.apply(o.Namespaces); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("close the process to others: %w", err)
	}
	syscall.CloseOnExec(lifeline)
	go func() {
		// The parent never writes to the lifeline. The read returns when the parent ends.
		io.Copy(io.Discard, os.NewFile(lifeline, "lifeline"))
		Leave(exitOrphaned)
	}()
	return nil
}

const exitOrphaned = 113

// Leave ends a child and all its descendants, with an exit code.
func Leave(code int) {
	if !inside.namespaces { // namespaces end with their first process
		killBelow(os.Getpid(), killTime)
	}
	os.Exit(code)
}

// threads is added to the limit of processes, because the kernel counts threads.
const threads = 512

// spareData is added to the memory limit of a single process, because runtimes reserve memory in advance. The
// kernel's limit stops a process that takes memory faster than the parent checks.
const spareData = 256 << 20

// apply sets the kernel's limits for each process, and the Go runtime's memory limit for this process. The
// parent checks the sums of all processes.
func (l Limits) apply(namespaces bool) error {
	debug.SetMaxStack(maxStack)
	// If the machine runs out of memory, the kernel should kill this process rather than the parent.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0o644)
	set := map[int]uint64{unix.RLIMIT_CORE: 0}
	if l.Memory > 0 {
		debug.SetMemoryLimit(l.Memory * 3 / 4) // the collector works harder above it
		set[unix.RLIMIT_DATA] = uint64(l.Memory) + spareData
	}
	if l.CPU > 0 {
		set[unix.RLIMIT_CPU] = uint64(l.CPU.Seconds()) + 2
	}
	// Without namespaces, the kernel would count all processes of our user. It never counts those of root.
	if l.Processes > 0 && namespaces {
		set[unix.RLIMIT_NPROC] = uint64(l.Processes) + threads
	}
	if l.Disk > 0 {
		set[unix.RLIMIT_FSIZE] = uint64(l.Disk)
	}
	if l.Files > 0 {
		set[unix.RLIMIT_NOFILE] = l.Files
	}
	for what, n := range set {
		var now unix.Rlimit
		if err := unix.Getrlimit(what, &now); err != nil {
			return fmt.Errorf("read limit %d: %w", what, err)
		}
		now.Max = min(now.Max, n)
		now.Cur = now.Max
		if err := unix.Setrlimit(what, &now); err != nil {
			return fmt.Errorf("set limit %d to %d: %w", what, n, err)
		}
	}
	return nil
}
