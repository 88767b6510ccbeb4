package deploying

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// errNothingCarried is returned where there are no files: neither in the program nor in a directory.
var errNothingCarried = errors.New("this program carries no functions, since it is no release")

// carriedFiles are the template and the functions' code, which a deployment uploads. They are in the program or in a directory of a
// build. A release carries its own, 34 MB: a deployment needs one file, no second download to check, and cannot mix versions. A
// program that was built without the tag `carried` carries none.
type carriedFiles struct {
	Template string
	dir      fs.FS
}

// findCarried reads the template in a directory, or above it, where a checkout has it; "" stands for what
// the program carries.
func findCarried(dir string) (carriedFiles, error) {
	if dir == "" {
		own := carriedInside()
		if own == nil {
			return carriedFiles{}, errNothingCarried
		}
		text, err := fs.ReadFile(own, "template.yaml")
		return carriedFiles{string(text), own}, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "template.yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		text, err = os.ReadFile(filepath.Join(dir, "..", "template.yaml"))
	}
	if err != nil {
		return carriedFiles{}, fmt.Errorf("read the template of %s: %w", dir, err)
	}
	return carriedFiles{string(text), os.DirFS(dir)}, nil
}

// Read returns a file, such as plan.zip.
func (f carriedFiles) Read(name string) ([]byte, error) { return fs.ReadFile(f.dir, name) }
