//go:build !unix || solaris || illumos || aix

package local

import "os"

func flock(*os.File, mode) error { return errNoGuard }
func unflock(*os.File)           {}
