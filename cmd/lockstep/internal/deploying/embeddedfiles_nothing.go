//go:build !carried

package deploying

import "io/fs"

// carriedInside returns the files that the program carries: none.
func carriedInside() fs.FS { return nil }
