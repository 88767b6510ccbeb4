// Package source has the sources of module files: the files in and around the root module's directory
// ([Tree]), the addresses in module calls ([Parse]), and the manifest of installed modules ([Manifest]).
//
// It does not read the content of the files. Start at [Dir], [FS] or [Files].
package source

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A Tree gives access to the files of a configuration. Names are clean, have slashes, and are relative to the
// root module's directory: "main.tf", "net/main.tf", "../shared/main.tf". That directory itself is ".".
type Tree interface {
	// ReadDir returns the sorted names of the files (not the directories) in dir.
	// The error matches [fs.ErrNotExist] if there is no such directory.
	ReadDir(dir string) ([]string, error)
	// ReadFile returns the content of a file. The caller must not change it.
	ReadFile(name string) ([]byte, error)
}

// Dir returns the tree whose root module is the directory dir of the machine's file system. ".." leads
// wherever the file system leads.
func Dir(dir string) Tree {
	if dir == "" {
		dir = "."
	}
	return dirTree(dir)
}

type dirTree string

func (t dirTree) ReadDir(dir string) ([]string, error) {
	entries, err := os.ReadDir(t.path(dir))
	if err != nil {
		return nil, err
	}
	return fileNames(entries), nil
}

func (t dirTree) ReadFile(name string) ([]byte, error) { return os.ReadFile(t.path(name)) }

func (t dirTree) path(name string) string {
	if path.IsAbs(name) {
		return filepath.FromSlash(name)
	}
	// Do not use filepath.Join, which removes "..": the operating system must resolve it. If the root module is
	// reached through a symbolic link, "../shared" is then beside the target of the link.
	return string(t) + string(filepath.Separator) + filepath.FromSlash(name)
}

// FS returns the tree whose root module is the directory root of fsys, such as a checkout or an unpacked
// archive. Files outside of fsys cannot be read.
func FS(fsys fs.FS, root string) Tree { return fsTree{fsys, root} }

type fsTree struct {
	fsys fs.FS
	root string
}

func (t fsTree) ReadDir(dir string) ([]string, error) {
	p, err := t.path(dir)
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(t.fsys, p)
	if err != nil {
		return nil, err
	}
	return fileNames(entries), nil
}

func (t fsTree) ReadFile(name string) ([]byte, error) {
	p, err := t.path(name)
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(t.fsys, p)
}

// errOutside is the error for a path outside of a tree's files.
var errOutside = errors.New("it lies outside of the files that belong to this configuration")

func (t fsTree) path(name string) (string, error) {
	p := path.Join(t.root, name)
	if path.IsAbs(name) || !fs.ValidPath(p) {
		return "", fmt.Errorf("%s: %w", name, errOutside)
	}
	return p, nil
}

// Files returns the tree of these files, by name, as in config.Config.Files. The tree keeps the map; nobody
// may change it afterwards.
func Files(files map[string][]byte) Tree {
	t := mapTree{files: files, dirs: map[string][]string{}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		dir := path.Dir(name)
		t.dirs[dir] = append(t.dirs[dir], path.Base(name))
	}
	return t
}

// Saved returns the tree of files of a configuration that was loaded before. Unlike in the result of [Files], a
// directory without known files counts as empty, not as missing: some modules may have had no files.
func Saved(files map[string][]byte) Tree { return savedTree{Files(files)} }

type savedTree struct{ Tree }

func (t savedTree) ReadDir(dir string) ([]string, error) {
	names, err := t.Tree.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}

type mapTree struct {
	files map[string][]byte
	dirs  map[string][]string
}

func (t mapTree) ReadDir(dir string) ([]string, error) {
	if names, ok := t.dirs[dir]; ok {
		return names, nil
	}
	for d := range t.dirs {
		if dir == "." && !strings.HasPrefix(d, "../") || strings.HasPrefix(d, dir+"/") {
			return nil, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", dir, fs.ErrNotExist)
}

func (t mapTree) ReadFile(name string) ([]byte, error) {
	if b, ok := t.files[name]; ok {
		return b, nil
	}
	return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

func fileNames(entries []fs.DirEntry) []string {
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names
}
