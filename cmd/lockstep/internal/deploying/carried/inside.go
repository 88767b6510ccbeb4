//go:build carried

package carried

import (
	"embed"
	"io/fs"
)

// files is filled by cmd/release.
//
//go:embed files
var files embed.FS

// inside returns the files that the program carries.
func inside() fs.FS {
	dir, err := fs.Sub(files, "files")
	if err != nil {
		panic("carried: " + err.Error())
	}
	return dir
}
