//go:build unix

package install

import "syscall"

// errNotDirectory is what reading a file as a directory ends in.
const errNotDirectory = syscall.ENOTDIR
