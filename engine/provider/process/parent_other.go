//go:build !linux

package process

import "os/exec"

// endWithParent does nothing: this system cannot kill a process when its parent dies.
func endWithParent(*exec.Cmd) {}
