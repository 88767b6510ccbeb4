package shield

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Raise keeps other processes of the same user from reading this process' memory and environment,
// which are in /proc/PID: an allowed plugin can read any file that a pull request names (with a
// local_file data source, for instance), and our credentials are in our environment. Processes that
// this one starts are not protected. Call it early; it lasts as long as the process. It is no
// protection against root.
//
// Source: prctl(2), PR_SET_DUMPABLE; proc(5), on the owner of the files in /proc/PID.
func Raise() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("shield the process from its plugins: %w", err)
	}
	return nil
}
