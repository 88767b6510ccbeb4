package process

import (
	"os/exec"
	"syscall"
)

// endWithParent makes the kernel kill the plugin if this process dies before it could end the plugin, for
// example by kill -9. Otherwise the plugin could continue to change objects for a run that no longer exists.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
