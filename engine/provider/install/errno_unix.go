//go:build unix

package install

import "syscall"

// errNotDirectory is the error of reading a file as a directory.
const errNotDirectory = syscall.ENOTDIR
