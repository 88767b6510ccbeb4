package getting

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Directory returns a getter for directories of this machine, with absolute paths. As with Terraform and
// OpenTofu, the module's directory is then a link to that directory.
func Directory() Getter { return directory{dirOnly{[]string{"file"}}} }

type directory struct{ dirOnly }

func (directory) Get(_ context.Context, req *Request) error {
	path := filepath.FromSlash(req.URL().Path)
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return fmt.Errorf("there is no directory %s", path)
	}
	if err := os.RemoveAll(req.Dst); err != nil {
		return err
	}
	return os.Symlink(path, req.Dst)
}
