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

// variable is an environment variable. It is set in processes that [Start] has started.
const variable = "LOCKSTEP_CONFINED"

// orders are the parent's instructions to its child, which are in the environment variable [variable].
type orders struct {
	Limits     Limits
	Namespaces bool
	Why        string // the reason why there are no namespaces
}

// inside has what [Enter] has found out. It is set only in a child.
var inside struct {
	namespaces bool
	why        string
}

// File descriptors of a child, after the standard three. lifeline is closed when the parent ends. The files of
// [Spec.Files] begin at FirstFile.
const (
	lifeline  = 3
	FirstFile = 4
)

// Confined reports whether [Start] has started this process. If so, main must call [Enter].
func Confined() bool { return os.Getenv(variable) != "" }

// maxStack is the maximum stack size of a goroutine, in bytes. So endless recursion fails within milliseconds,
// before it has used all memory.
const maxStack = 64 << 20

// Enter makes this process the child of a process that called [Start]. It applies the limits, adopts orphans
// among the descendants, and hides memory and environment from other processes of the same user. When the
// parent ends, this process and all its descendants are killed.
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
		// The parent never writes to this pipe. So Copy returns only when the parent has ended.
		io.Copy(io.Discard, os.NewFile(lifeline, "lifeline"))
		Leave(exitOrphaned)
	}()
	return nil
}

const exitOrphaned = 113

// Leave ends this child process and all its descendants. code is the exit code.
func Leave(code int) {
	if !inside.namespaces { // namespaces end with their first process
		killBelow(os.Getpid(), killTime)
	}
	os.Exit(code)
}

// threads is added to the maximum number of processes, because the kernel also counts threads.
const threads = 512

// spareData is added to the memory limit of a single process, because language runtimes reserve more memory
// than they use. The kernel enforces this limit: it stops a process that takes memory faster than the parent
// can check.
const spareData = 256 << 20

// apply sets the kernel's limits, which are per process, and the memory limit of this process' Go runtime. The
// parent watches the sums of all processes.
func (l Limits) apply(namespaces bool) error {
	debug.SetMaxStack(maxStack)
	// If the machine has too little memory, the kernel should kill this process, not its parent.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0o644)
	set := map[int]uint64{unix.RLIMIT_CORE: 0}
	if l.Memory > 0 {
		debug.SetMemoryLimit(l.Memory * 3 / 4) // the collector works harder above it
		set[unix.RLIMIT_DATA] = uint64(l.Memory) + spareData
	}
	if l.CPU > 0 {
		set[unix.RLIMIT_CPU] = uint64(l.CPU.Seconds()) + 2
	}
	// Without namespaces, the limit would count all processes of the same user. The kernel never counts those
	// of root.
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
