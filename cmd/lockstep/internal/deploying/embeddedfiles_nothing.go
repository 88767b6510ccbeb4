//go:build !carried

package deploying

import "io/fs"

// carriedInside returns nil: this program has no embedded files, because it was built without the tag
// `carried`.
func carriedInside() fs.FS { return nil }
