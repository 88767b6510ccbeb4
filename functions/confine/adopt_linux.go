package confine

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// family are the children of this process: those that it started; and once it adopts orphans, all
// others.
var family = struct {
	mu      sync.Mutex
	adopted bool
	ours    map[int]bool
}{ours: map[int]bool{}}

// Adopt makes this process the parent of its descendants' orphans, for as long as it lives. From
// then on all of its children come from [Start], or are orphans, which are killed: a program that
// starts children in other ways must not call it. Only mains may call it.
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

// started notes a child, at a time when nobody looks for orphans.
func started(start func() (pid int, err error)) error {
	family.mu.Lock()
	defer family.mu.Unlock()
	pid, err := start()
	if err == nil {
		family.ours[pid] = true
	}
	return err
}

// ended forgets a child.
func ended(pid int) {
	family.mu.Lock()
	defer family.mu.Unlock()
	delete(family.ours, pid)
}

// orphanTime is the limit for killing orphans.
const orphanTime = 10 * time.Second

// endOrphans kills the children that were not started here, with their descendants, and waits for
// them.
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
