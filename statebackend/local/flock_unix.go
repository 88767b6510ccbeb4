//go:build unix && !solaris && !illumos && !aix

package local

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func flock(f *os.File, m mode) error {
	how := unix.LOCK_SH
	if m == exclusive {
		how = unix.LOCK_EX
	}
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return errBusy
		default:
			return err
		}
	}
}

func unflock(f *os.File) { unix.Flock(int(f.Fd()), unix.LOCK_UN) }
