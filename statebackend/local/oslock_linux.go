package local

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// wholeFile returns the lock that Terraform takes: for writing, from the first byte to infinity.
func wholeFile() *unix.Flock_t {
	return &unix.Flock_t{Type: unix.F_WRLCK, Whence: 0, Start: 0, Len: 0}
}

// lockFile takes the lock until unlockFile. If somebody else has it, the error is errBusy.
func lockFile(f *os.File) error {
	return busy(unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, wholeFile()))
}

// unlockFile releases the lock. Closing f is not enough: another goroutine may just be starting a process,
// which also has f open until it runs its own program.
func unlockFile(f *os.File) error {
	lock := wholeFile()
	lock.Type = unix.F_UNLCK
	return os.NewSyscallError("fcntl", unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, lock))
}

// fileLocked reports whether the file is locked through another open file.
func fileLocked(f *os.File) (bool, error) {
	lock := wholeFile()
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, lock); err != nil {
		return false, os.NewSyscallError("fcntl", err)
	}
	return lock.Type != unix.F_UNLCK, nil
}

func busy(err error) error {
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return errBusy
	}
	return os.NewSyscallError("fcntl", err)
}

// reserve makes sure that the disk has space for a file of that size. It does not change the file's size. On
// file systems that cannot reserve space it does nothing.
func reserve(f *os.File, size int64) error {
	err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return nil
	}
	return os.NewSyscallError("fallocate", err)
}
