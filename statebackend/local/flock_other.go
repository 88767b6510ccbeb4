//go:build !unix || solaris || illumos || aix

package local

import (
	"errors"
	"os"
)

// errNoGuard means that this system has no such guard.
var errNoGuard = errors.New("no file guard on this system")

func flock(*os.File, mode) error { return errNoGuard }
func unflock(*os.File)           {}
