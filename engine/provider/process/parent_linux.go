package process

import (
	"os/exec"
	"syscall"
)

// endWithParent makes the kernel kill the plugin when we die without having ended it
// (kill -9): nothing may go on changing the world in the name of a run that is gone.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
