//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// memory returns the largest memory that a process had, in MiB.
func memory(p *os.ProcessState) float64 {
	u, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	unit := 1 << 10
	if runtime.GOOS == "darwin" {
		unit = 1 // bytes
	}
	return float64(u.Maxrss) * float64(unit) / (1 << 20)
}
