// Package deploying has the files that the tool carries.
package deploying

import "io/fs"

// Carried returns them.
func Carried() fs.FS { return carriedInside() }
