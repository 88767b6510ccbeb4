package shield

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Raise keeps other processes of the same user from reading this one's memory and
// environment, as they can at /proc/PID/environ: a plugin that is allowed reads any file
// that a pull request names (with a local_file data source, say), and our credentials
// are in ours. Processes that are started are as they always are. Call it early; it lasts
// as long as the process does. It does not hold against root.
//
// Source: prctl(2), PR_SET_DUMPABLE; proc(5), on the owner of what is in /proc/PID.
func Raise() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("shield the process from its plugins: %w", err)
	}
	return nil
}
