package funcs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Files is the window through which functions see files. Names are absolute, clean
// paths of the operating system; errors are *fs.PathError where they are about a
// file, and errors.Is tells fs.ErrNotExist. It is used concurrently.
type Files interface {
	// Open opens a file for reading, or a directory, which then is a fs.ReadDirFile.
	Open(name string) (fs.File, error)
	// Stat describes a file, following symbolic links.
	Stat(name string) (fs.FileInfo, error)
	// Lstat describes a file, or a symbolic link itself.
	Lstat(name string) (fs.FileInfo, error)
}

// OSFiles is the whole real file system.
type OSFiles struct{}

// Open implements Files.
func (OSFiles) Open(name string) (fs.File, error) { return os.Open(name) }

// Stat implements Files.
func (OSFiles) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// Lstat implements Files.
func (OSFiles) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

// Confined is the real file system as far as it is below root, which must have
// been opened by an absolute name, and stays the caller's to close. Nothing
// outside is ever opened, by whatever name or symbolic link.
func Confined(root *os.Root) Files { return confined{root} }

type confined struct{ root *os.Root }

// errOutside is the error for a configuration that looks beyond its own files.
var errOutside = errors.New("the path leads outside of the directory tree that this configuration may read")

func (c confined) Open(name string) (fs.File, error) {
	return confinedly("open", name, c.root, func(rel string) (fs.File, error) {
		info, err := c.root.Stat(rel)
		if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return nil, &fs.PathError{Op: "open", Path: rel, Err: errIrregular}
		}
		// Nor is somebody waited for who put a pipe there in between.
		return c.root.OpenFile(rel, os.O_RDONLY|nonBlocking, 0)
	})
}

// errIrregular is for pipes, which are opened when somebody writes to them, and devices, which
// may have no end.
var errIrregular = errors.New("this is neither a regular file nor a directory")

func (c confined) Stat(name string) (fs.FileInfo, error) {
	return confinedly("stat", name, c.root, c.root.Stat)
}

func (c confined) Lstat(name string) (fs.FileInfo, error) {
	return confinedly("stat", name, c.root, c.root.Lstat)
}

// confinedly does something to a file by its name from the root. A name that
// climbs out ends here, a symbolic link that does so at os.Root.
func confinedly[T any](op, name string, root *os.Root, do func(string) (T, error)) (T, error) {
	var none T
	rel, err := filepath.Rel(root.Name(), name)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return none, &fs.PathError{Op: op, Path: name, Err: errOutside}
	}
	out, err := do(rel)
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
		if err.Error() == "path escapes from parent" { // package os does not export it
			err = errOutside
		}
		return none, &fs.PathError{Op: op, Path: name, Err: err}
	}
	if err != nil {
		return none, err
	}
	return out, nil
}
