//go:build !unix

package install

import "io/fs"

// errNotDirectory cannot be told from a missing directory here.
var errNotDirectory = fs.ErrNotExist
