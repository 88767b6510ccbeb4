package installing

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// place puts a package into a directory, and replaces anything there. If another call already fetched the
// package, place copies it without its hidden files, as Terraform and OpenTofu do.
func (run *installation) place(pkg, dir string) error {
	to := run.path(dir)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	// Create the package in the parent directory of the final directory, so that one rename moves it there.
	tmp, err := os.MkdirTemp(filepath.Dir(to), ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	fresh := filepath.Join(tmp, "package")
	if from, ok := run.fetched[pkg]; ok {
		if err = run.count(from); err == nil {
			err = copyPackage(from, fresh)
		}
	} else if err = run.Fetch(run.ctx, pkg, fresh); err == nil {
		err = run.count(fresh)
	}
	if err != nil {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.Rename(fresh, to); err != nil {
		return err
	}
	run.fetched[pkg] = to
	return nil
}

// count adds the size of a directory to the bytes of the installation. It returns an error if the limit Bytes
// is exceeded.
func (run *installation) count(dir string) error {
	if run.Bytes == 0 {
		return nil
	}
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			run.bytes += info.Size()
		}
		return err
	})
	if err == nil && run.bytes > run.Bytes {
		err = fmt.Errorf("all modules together have more than %d bytes", run.Bytes)
	}
	return err
}

// copyPackage copies a package that was inspected when it was fetched, or a directory of this machine.
func copyPackage(from, to string) error {
	if target, err := os.Readlink(from); err == nil {
		return os.Symlink(target, to)
	}
	return filepath.WalkDir(from, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch hidden := rel != "." && strings.HasPrefix(e.Name(), "."); {
		case hidden && e.IsDir():
			return filepath.SkipDir
		case hidden:
			return nil
		case e.IsDir():
			return os.MkdirAll(target, 0o755)
		case e.Type() == fs.ModeSymlink:
			link, err := os.Readlink(name)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case !e.Type().IsRegular():
			return fmt.Errorf("the module has the special file %s", filepath.ToSlash(rel))
		}
		return copyFile(name, target)
	})
}

func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, info.Mode().Perm())
}

// enter returns the subdirectory sub of dir. sub may have wildcards if exactly one directory matches.
func (run *installation) enter(dir, sub string) (string, error) {
	if sub == "" {
		return dir, nil
	}
	// Open dir as a root, so that no link leads out of it. A package that is itself a link is a directory of
	// the user on this machine.
	root, err := os.OpenRoot(run.path(dir))
	if err != nil {
		return "", err
	}
	defer root.Close()
	if strings.ContainsAny(sub, "*?[") {
		matches, err := fs.Glob(root.FS(), sub)
		if err != nil || len(matches) != 1 {
			return "", fmt.Errorf("has %d directories that match %q, and not one", len(matches), sub)
		}
		sub = matches[0]
	}
	info, err := root.Stat(filepath.FromSlash(sub))
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir():
		return "", fmt.Errorf("has no directory %s", sub)
	case err != nil:
		return "", fmt.Errorf("has no usable directory %s", sub)
	}
	return path.Join(dir, sub), nil
}
