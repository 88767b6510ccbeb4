package confine

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// giveUpRights drops all capabilities of the calling thread and its descendants for good. Set-user-ID programs
// do not get them back. The caller must call noNewPrivileges first.
// Source: capabilities(7)
func giveUpRights() error {
	for c := range uintptr(64) {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) {
			break // there are no more
		}
		// EPERM means that the thread has no capabilities that it could drop.
		if err != nil && !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("give up capabilities: %w", err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("give up ambient capabilities: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	return nil
}

// noNewPrivileges makes set-user-ID programs and file capabilities ineffective for the calling
// thread and its descendants.
func noNewPrivileges() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	return nil
}
