//go:build !carried

package carried

import "io/fs"

// inside returns the files that the program carries: none.
func inside() fs.FS { return nil }
