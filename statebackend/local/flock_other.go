//go:build !unix || solaris || illumos || aix

package local

import (
	"errors"
	"os"
)

// errNoGuard means that this system has no file guard (flock).
var errNoGuard = errors.New("no file guard on this system")

func flock(*os.File, mode) error { return errNoGuard }
func unflock(*os.File)           {}
