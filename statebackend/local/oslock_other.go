//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly

package local

import (
	"errors"
	"fmt"
	"os"
)

var errNoLocks = fmt.Errorf("state files cannot be locked on this system: %w", errors.ErrUnsupported)

func lockFile(*os.File) error           { return errNoLocks }
func unlockFile(*os.File) error         { return nil }
func fileLocked(*os.File) (bool, error) { return false, errNoLocks }
func reserve(*os.File, int64) error     { return nil }
