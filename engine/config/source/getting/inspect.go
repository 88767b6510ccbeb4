package getting

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Limits are the limits of a module package.
type Limits struct {
	Files   int   // files, directories and links
	Bytes   int64 // of all files, unpacked
	Archive int64 // bytes of an archive
}

// DefaultLimits are generous: the largest known repositories of modules have some thousand files. A package
// within the limits fits the default disk of a Lambda function.
// Source: https://docs.aws.amazon.com/lambda/latest/dg/configuration-ephemeral-storage.html (512 MB)
var DefaultLimits = Limits{Files: 50_000, Bytes: 256 << 20, Archive: 100 << 20}

func (g *Getters) limits() Limits {
	if g.Limits == (Limits{}) {
		return DefaultLimits
	}
	return g.Limits
}

// inspect returns an error for a package with forbidden content: links that lead out of it or nowhere,
// special files, or more than the limits. A package that is itself a link is a directory of this machine, and
// is not checked: its owner is responsible for it.
func inspect(dir string, limits Limits) error {
	if info, err := os.Lstat(dir); err != nil || info.Mode().Type() == fs.ModeSymlink {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	files, bytes := 0, int64(0)
	return fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if files++; files > limits.Files {
			return fmt.Errorf("the package has more than %d files", limits.Files)
		}
		switch {
		case info.IsDir():
		case info.Mode().IsRegular():
			if bytes += info.Size(); bytes > limits.Bytes {
				return fmt.Errorf("the package's files have more than %d bytes together", limits.Bytes)
			}
		case info.Mode().Type() == fs.ModeSymlink:
			// root follows only links that stay inside it.
			if _, err := root.Stat(name); err != nil {
				return fmt.Errorf("the package has the link %s, which leads out of it, or nowhere", filepath.ToSlash(name))
			}
		default:
			return fmt.Errorf("the package has the special file %s", filepath.ToSlash(name))
		}
		return nil
	})
}
