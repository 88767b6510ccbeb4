package confine

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// family is what this process knows of its children: those that it started, and whether all
// others are orphans of theirs.
var family = struct {
	mu      sync.Mutex
	adopted bool
	ours    map[int]bool
}{ours: map[int]bool{}}

// Adopt makes this process the one that orphans come to, for as long as it lives. From then
// on all of its children are [Start]'s, or orphans, which are ended: a program that starts
// children in other ways must not call it. It is for mains.
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

// started notes a child, while nobody looks for orphans.
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

// orphanTime is how long ending orphans may take.
const orphanTime = 10 * time.Second

// endOrphans kills the children that nobody started here, with what is below them, and waits
// for them.
func endOrphans() {
	family.mu.Lock()
	defer family.mu.Unlock()
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
		if left == 0 {
			return
		}
	}
}
