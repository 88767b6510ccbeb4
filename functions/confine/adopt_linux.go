package confine

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// family are the child processes of this process. ours has those that [Start] started. Once adopted is true,
// all others are orphans.
var family = struct {
	mu      sync.Mutex
	adopted bool
	ours    map[int]bool
}{ours: map[int]bool{}}

// Adopt makes this process, for as long as it lives, the parent of all orphans among its descendants. From then
// on, each of its children was either started by [Start] or is an orphan, and orphans are killed. So a program
// that starts children in other ways must not call Adopt. Only mains may call it.
// Source: prctl(2), PR_SET_CHILD_SUBREAPER
func Adopt() error {
	if err := subreaper(); err != nil {
		return err
	}
	family.mu.Lock()
	defer family.mu.Unlock()
	family.adopted = true
	return nil
}

func subreaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("take in orphans: %w", err)
	}
	return nil
}

// started calls the function start, which starts a child, and records the child in family. No orphans are
// killed meanwhile.
func started(start func() (pid int, err error)) error {
	family.mu.Lock()
	defer family.mu.Unlock()
	pid, err := start()
	if err == nil {
		family.ours[pid] = true
	}
	return err
}

// ended removes a child from family.
func ended(pid int) {
	family.mu.Lock()
	defer family.mu.Unlock()
	delete(family.ours, pid)
}

// orphanTime is the time limit for killing orphans.
const orphanTime = 10 * time.Second

// endOrphans kills the orphans among the children of this process, and waits for them.
func endOrphans() {
	family.mu.Lock()
	defer family.mu.Unlock()
	none := 0 // times in a row
	for end := time.Now().Add(orphanTime); family.adopted && time.Now().Before(end); time.Sleep(time.Millisecond) {
		left := 0
		for _, pid := range childrenOf(os.Getpid()) {
			if family.ours[pid] {
				continue
			}
			left++
			syscall.Kill(pid, syscall.SIGKILL)
			syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		}
		if left > 0 {
			none = 0
		} else if none++; none == looks {
			return
		}
	}
}
