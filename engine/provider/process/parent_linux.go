package process

import (
	"os/exec"
	"syscall"
)

// endWithParent makes the kernel kill the plugin if this process dies without ending it (kill -9). Otherwise
// the plugin could continue to change objects for a run that is gone.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
