package funcs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Files is the access of functions to files. Names are absolute, clean paths of the operating system. Errors
// about a file are *fs.PathError, and errors.Is recognizes fs.ErrNotExist. Files must be safe for concurrent
// use.
type Files interface {
	// Open opens a file or a directory for reading. A directory is an fs.ReadDirFile.
	Open(name string) (fs.File, error)
	// Stat describes a file. It follows symbolic links.
	Stat(name string) (fs.FileInfo, error)
	// Lstat describes a file, or the symbolic link itself.
	Lstat(name string) (fs.FileInfo, error)
}

// NoFiles gives access to no files: each one is an error.
type NoFiles struct{}

// Open implements Files.
func (NoFiles) Open(name string) (fs.File, error) { return nil, denied(name) }

// Stat implements Files.
func (NoFiles) Stat(name string) (fs.FileInfo, error) { return nil, denied(name) }

// Lstat implements Files.
func (NoFiles) Lstat(name string) (fs.FileInfo, error) { return nil, denied(name) }

func denied(name string) error { return &fs.PathError{Op: "read", Path: name, Err: fs.ErrPermission} }

// OSFiles gives access to the whole file system of the machine.
type OSFiles struct{}

// Open implements Files, with os.Open.
func (OSFiles) Open(name string) (fs.File, error) { return os.Open(name) }

// Stat implements Files, with os.Stat.
func (OSFiles) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// Lstat implements Files, with os.Lstat.
func (OSFiles) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

// Confined gives access to the part of the real file system that is below root. root must have been opened by
// an absolute name; the caller closes it. Nothing outside of root is ever opened, by no name and no symbolic
// link.
func Confined(root *os.Root) Files { return confined{root} }

type confined struct{ root *os.Root }

// errOutside is the error for a path outside of the configuration's own files.
var errOutside = errors.New("the path leads outside of the directory tree that this configuration may read")

func (c confined) Open(name string) (fs.File, error) {
	return confinedly("open", name, c.root, func(rel string) (fs.File, error) {
		info, err := c.root.Stat(rel)
		if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return nil, &fs.PathError{Op: "open", Path: rel, Err: errIrregular}
		}
		// Do not block if somebody replaced the file with a pipe in the meantime.
		return c.root.OpenFile(rel, os.O_RDONLY|nonBlocking, 0)
	})
}

// errIrregular is the error for pipes and devices. Opening a pipe waits for a writer, and a device may have
// no end.
var errIrregular = errors.New("this is neither a regular file nor a directory")

func (c confined) Stat(name string) (fs.FileInfo, error) {
	return confinedly("stat", name, c.root, c.root.Stat)
}

func (c confined) Lstat(name string) (fs.FileInfo, error) {
	return confinedly("stat", name, c.root, c.root.Lstat)
}

// confinedly calls the function do with a file's name relative to root. It refuses a name that leads out of
// root; os.Root refuses symbolic links that lead out of it.
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
