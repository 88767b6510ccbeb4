//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package local

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile takes the lock that Terraform takes: for writing, from the first byte to infinity. The lock lasts
// until this process closes any descriptor of the file.
func lockFile(f *os.File) error {
	err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return errBusy
	}
	return os.NewSyscallError("fcntl", err)
}

// unlockFile does nothing: closing the file releases the lock. Unlike on Linux, a child process never has
// this lock.
func unlockFile(*os.File) error { return nil }

// fileLocked reports whether another process holds the lock.
func fileLocked(f *os.File) (bool, error) {
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &lock); err != nil {
		return false, os.NewSyscallError("fcntl", err)
	}
	return lock.Type != unix.F_UNLCK, nil
}

// reserve does nothing on this system.
func reserve(*os.File, int64) error { return nil }
