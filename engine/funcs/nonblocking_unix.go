//go:build unix

package funcs

import "syscall"

// nonBlocking opens a pipe without waiting for a writer. Source: open(2), O_NONBLOCK.
const nonBlocking = syscall.O_NONBLOCK
