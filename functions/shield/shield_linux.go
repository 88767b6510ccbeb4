package shield

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Raise prevents other processes of the same user from reading this process' memory and environment in
// /proc/PID. Lockstep's credentials are in its environment. An allowed plugin can read any file that a pull
// request names, for example with a local_file data source. Processes that this process starts are not
// protected. Call Raise early. Its effect lasts until the process ends. It is no protection against root.
//
// Source: prctl(2), PR_SET_DUMPABLE; proc(5), on the owner of the files in /proc/PID.
func Raise() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("shield the process from its plugins: %w", err)
	}
	return nil
}
