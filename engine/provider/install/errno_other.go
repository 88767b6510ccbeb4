//go:build !unix

package install

import "io/fs"

// errNotDirectory is the error of a missing directory: this system reports no other.
var errNotDirectory = fs.ErrNotExist
