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

// variable names the environment variable by which a child knows that it is one.
const variable = "LOCKSTEP_CONFINED"

// orders are what a child is told at its start.
type orders struct {
	Limits     Limits
	Namespaces bool
	Why        string // there are none
}

// inside is what this process is, if it is a child.
var inside struct {
	namespaces bool
	why        string
}

// The files that a child has besides the first three: one that ends with the parent, then
// those of [Spec.Files].
const (
	lifeline  = 3
	FirstFile = 4
)

// Confined reports whether this process was started by [Start]: its main has to call [Enter].
func Confined() bool { return os.Getenv(variable) != "" }

// maxStack is how large one goroutine's stack may become: endless recursion ends in some
// milliseconds, and not when all memory is gone.
const maxStack = 64 << 20

// Enter makes this process the child that [Start] has started: it goes by its limits, takes
// in the orphans of what it starts, is closed to processes of the same user, and ends with
// all of them when the parent does.
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
		// Nothing is written to it: it ends when the parent does.
		io.Copy(io.Discard, os.NewFile(lifeline, "lifeline"))
		Leave(exitOrphaned)
	}()
	return nil
}

const exitOrphaned = 113

// Leave ends a child, with everything that it has started.
func Leave(code int) {
	if !inside.namespaces { // with them, all others end with the first process
		killBelow(os.Getpid(), killTime)
	}
	os.Exit(code)
}

// threads is how many more there may be than processes: the kernel counts threads.
const threads = 512

// spareData is how much more one process may map than all may use together: a runtime maps
// ahead. It ends what takes memory faster than the parent looks.
const spareData = 256 << 20

// apply sets what the kernel holds each process to, and what our own memory is held to. What
// they use together, the parent watches.
func (l Limits) apply(namespaces bool) error {
	debug.SetMaxStack(maxStack)
	// Should the machine run out of memory, it is us who end, and not the parent.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0o644)
	set := map[int]uint64{unix.RLIMIT_CORE: 0}
	if l.Memory > 0 {
		debug.SetMemoryLimit(l.Memory * 3 / 4) // the collector works harder from there on
		set[unix.RLIMIT_DATA] = uint64(l.Memory) + spareData
	}
	if l.CPU > 0 {
		set[unix.RLIMIT_CPU] = uint64(l.CPU.Seconds()) + 2
	}
	// Elsewhere it would count all processes of our user; and it does not count root's.
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
