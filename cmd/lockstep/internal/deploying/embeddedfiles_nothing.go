//go:build !carried

package deploying

import "io/fs"

// carriedInside returns the files that the program contains: none.
func carriedInside() fs.FS { return nil }
