//go:build !linux

package shield

// Raise does nothing on systems other than Linux, because these systems do not show a process' environment as a
// file.
func Raise() error { return nil }
