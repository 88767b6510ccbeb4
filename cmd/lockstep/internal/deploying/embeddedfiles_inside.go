//go:build carried

package deploying

import (
	"embed"
	"io/fs"
)

// files has the template and the functions' code. cmd/release copies them into the directory before the build.
//
//go:embed carried
var files embed.FS

// carriedInside returns the template and the functions' code that are embedded in this program.
func carriedInside() fs.FS {
	dir, err := fs.Sub(files, "carried")
	if err != nil {
		panic("carried: " + err.Error())
	}
	return dir
}
