//go:build carried

package deploying

import (
	"embed"
	"io/fs"
)

// files is filled by cmd/release.
//
//go:embed carried
var files embed.FS

// carriedInside returns the files that the program contains.
func carriedInside() fs.FS {
	dir, err := fs.Sub(files, "carried")
	if err != nil {
		panic("carried: " + err.Error())
	}
	return dir
}
