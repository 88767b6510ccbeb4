package deploying

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// errNothingEmbedded reports that there are no files, neither in the program nor in a directory.
var errNothingEmbedded = errors.New("this program is not a release, so it does not have the functions' code")

// embeddedFiles are the template and the functions' code, which a deployment uploads. They are in the
// program, or in the directory of a build. A release contains its own files (34 MB). So users download and
// verify only one file, and cannot mix versions. A program built without the tag `carried` contains none.
type embeddedFiles struct {
	Template string
	dir      fs.FS
}

// findEmbedded reads the template in a directory, or in a directory above, as in a checkout. "" means the files
// in the program.
func findEmbedded(dir string) (embeddedFiles, error) {
	if dir == "" {
		own := carriedInside()
		if own == nil {
			return embeddedFiles{}, errNothingEmbedded
		}
		text, err := fs.ReadFile(own, "template.yaml")
		return embeddedFiles{string(text), own}, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "template.yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		text, err = os.ReadFile(filepath.Join(dir, "..", "template.yaml"))
	}
	if err != nil {
		return embeddedFiles{}, fmt.Errorf("template.yaml is neither in %s nor above it: %w", dir, err)
	}
	return embeddedFiles{string(text), os.DirFS(dir)}, nil
}

// Read returns the content of a file, such as plan.zip.
func (f embeddedFiles) Read(name string) ([]byte, error) { return fs.ReadFile(f.dir, name) }
