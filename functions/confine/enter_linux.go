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

// variable is the environment variable that marks a child.
const variable = "LOCKSTEP_CONFINED"

// orders are a child's instructions from its parent.
type orders struct {
	Limits     Limits
	Namespaces bool
	Why        string // the reason if there are none
}

// inside describes this process, if it is a child.
var inside struct {
	namespaces bool
	why        string
}

// The files of a child after the first three: one that ends with the parent, then those of
// [Spec.Files].
const (
	lifeline  = 3
	FirstFile = 4
)

// Confined reports whether this process was started by [Start]: its main has to call [Enter].
func Confined() bool { return os.Getenv(variable) != "" }

// maxStack limits the stack of one goroutine: endless recursion ends in some milliseconds, and not
// when all memory is used.
const maxStack = 64 << 20

// Enter makes this process the child of a [Start]: it applies the limits, takes in the orphans of
// its descendants, is closed to processes of the same user, and ends with all of them when the
// parent does.
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
		// Nothing is ever written to it: the read ends when the parent does.
		io.Copy(io.Discard, os.NewFile(lifeline, "lifeline"))
		Leave(exitOrphaned)
	}()
	return nil
}

const exitOrphaned = 113

// Leave ends a child, with all its descendants.
func Leave(code int) {
	if !inside.namespaces { // namespaces end with their first process
		killBelow(os.Getpid(), killTime)
	}
	os.Exit(code)
}

// threads is the number of threads that processes may have in addition to one each: the kernel
// counts threads.
const threads = 512

// spareData is added to the limit of memory that one process may map, since runtimes map ahead. It
// ends a process that takes memory faster than the parent looks.
const spareData = 256 << 20

// apply sets the kernel's limits for each process, and that of our own memory. The parent watches
// their sums.
func (l Limits) apply(namespaces bool) error {
	debug.SetMaxStack(maxStack)
	// If the machine runs out of memory, the kernel shall kill us, and not the parent.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0o644)
	set := map[int]uint64{unix.RLIMIT_CORE: 0}
	if l.Memory > 0 {
		debug.SetMemoryLimit(l.Memory * 3 / 4) // the collector works harder above it
		set[unix.RLIMIT_DATA] = uint64(l.Memory) + spareData
	}
	if l.CPU > 0 {
		set[unix.RLIMIT_CPU] = uint64(l.CPU.Seconds()) + 2
	}
	// Without namespaces it would count all processes of our user; and it never counts those of
	// root.
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
