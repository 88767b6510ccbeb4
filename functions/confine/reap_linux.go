package confine

import (
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A reaper waits for orphans that this process has adopted, once they have ended. Without that, the machine
// would run out of process IDs.
type reaper struct {
	mu   sync.Mutex
	ours map[int]bool // processes whose starters wait for them
}

// reaping returns the reaper of this process. There is one for all cells: a second one would wait for programs of the
// first one's cells.
var reaping = sync.OnceValue(func() *reaper {
	r := &reaper{ours: map[int]bool{}}
	go r.run()
	return r
})

const reapEvery = 10 * time.Millisecond

// start starts a process by calling the parameter start. The caller waits for this process, and the reaper does
// not.
func (r *reaper) start(start func() (pid int, err error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	pid, err := start()
	if err == nil {
		r.ours[pid] = true
	}
	return err
}

// run waits for ended orphans, one after another. It never returns.
func (r *reaper) run() {
	for {
		for r.one() {
		}
		time.Sleep(reapEvery)
	}
}

// one waits for one orphan that has ended. It returns false if there is none.
func (r *reaper) one() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	pid := whoEnded()
	if pid == 0 || r.ours[pid] {
		return false
	}
	n, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
	return err == nil && n == pid
}

// siginfo is the part of siginfo_t that waitid fills in, on 64-bit machines.
type siginfo struct {
	signo, errno, code, pad int32
	pid                     int32
	_                       [27]int32
}

// childless reports whether this process has no children, running or ended. The kernel knows that at once, and for all
// threads. A descendant has a parent, so then there are no descendants either.
// Source: waitid(2), ECHILD; __WALL is for children that do not end with SIGCHLD
func childless() bool {
	var info siginfo
	_, _, errno := unix.Syscall6(unix.SYS_WAITID, unix.P_ALL, 0, uintptr(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, 0, 0)
	return errno == unix.ECHILD
}

// whoEnded returns the process ID of a child that has ended, and for which nobody has waited; 0 if there is
// none.
// Source: waitid(2), WNOWAIT
func whoEnded() int {
	var info siginfo
	_, _, errno := unix.Syscall6(unix.SYS_WAITID, unix.P_ALL, 0, uintptr(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(info.pid)
}
