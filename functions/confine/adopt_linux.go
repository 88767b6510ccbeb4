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
// all other children are orphans.
var family = struct {
	mu      sync.Mutex
	adopted bool
	ours    map[int]bool
}{ours: map[int]bool{}}

// Adopt makes this process the parent of all orphans among its descendants, until it ends. From then on, a
// child of this process that [Start] did not start counts as an orphan, and orphans are killed. So a program
// that starts children in other ways must not call Adopt. Only main functions may call it.
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

// started calls start, which starts a child, and records the child in [family]. Meanwhile, no orphans are
// killed: the new child would be mistaken for one.
func started(start func() (pid int, err error)) error {
	family.mu.Lock()
	defer family.mu.Unlock()
	pid, err := start()
	if err == nil {
		family.ours[pid] = true
	}
	return err
}

// ended removes a child from [family].
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
	if len(family.ours) == 0 && childless() {
		return
	}
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
