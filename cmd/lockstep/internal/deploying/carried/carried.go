// Package carried finds the template and the code of the functions that a deployment uploads: those
// that this program carries, or those in a directory of a build.
//
// A release carries its own, 34 MB, so that a deployment needs one file, no second download to
// check, and cannot mix versions. A program that was built without the tag `carried` has none.
//
// It refuses to know the contents of the files. Start at [Find].
package carried

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNone is returned where there are no files: neither in the program nor in a directory.
var ErrNone = errors.New("this program carries no functions, since it is no release")

// Files has the template's text, and reads files beside it.
type Files struct {
	Template string
	dir      fs.FS
}

// Find reads the template in a directory, or above it, where a checkout has it; "" stands for what
// the program carries.
func Find(dir string) (Files, error) {
	if dir == "" {
		own := inside()
		if own == nil {
			return Files{}, ErrNone
		}
		text, err := fs.ReadFile(own, "template.yaml")
		return Files{string(text), own}, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "template.yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		text, err = os.ReadFile(filepath.Join(dir, "..", "template.yaml"))
	}
	if err != nil {
		return Files{}, fmt.Errorf("read the template of %s: %w", dir, err)
	}
	return Files{string(text), os.DirFS(dir)}, nil
}

// Read returns a file, such as plan.zip.
func (f Files) Read(name string) ([]byte, error) { return fs.ReadFile(f.dir, name) }
