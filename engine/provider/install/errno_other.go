//go:build !unix

package install

import "io/fs"

// errNotDirectory is the error of a missing directory. This system has no separate error for a file in place
// of a directory.
var errNotDirectory = fs.ErrNotExist
