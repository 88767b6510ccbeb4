//go:build unix

package funcs

import "syscall"

// nonBlocking lets nobody wait for who writes to a pipe. Source: open(2), O_NONBLOCK.
const nonBlocking = syscall.O_NONBLOCK
