package getting

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Limits bound a package of modules.
type Limits struct {
	Files   int   // files, directories and links
	Bytes   int64 // of all files, unpacked
	Archive int64 // bytes of an archive
}

// DefaultLimits are generous: the largest repositories of modules known have some
// thousand files. They fit the disk that a Lambda function has unless it asks for more.
// Source: https://docs.aws.amazon.com/lambda/latest/dg/configuration-ephemeral-storage.html (512 MB)
var DefaultLimits = Limits{Files: 50_000, Bytes: 256 << 20, Archive: 100 << 20}

func (g *Getters) limits() Limits {
	if g.Limits == (Limits{}) {
		return DefaultLimits
	}
	return g.Limits
}

// inspect refuses a package with forbidden content: links that lead out of it or
// nowhere, special files, and too much. A package that is itself a link is a directory
// of this machine, which its owner answers for.
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
			// A root follows a link only to where it may.
			if _, err := root.Stat(name); err != nil {
				return fmt.Errorf("the package has the link %s, which leads out of it, or nowhere", filepath.ToSlash(name))
			}
		default:
			return fmt.Errorf("the package has the special file %s", filepath.ToSlash(name))
		}
		return nil
	})
}
