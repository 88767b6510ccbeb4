package project

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/lockstep-iac/lockstep/functions/project/links"
)

// A Tree is all that a plan depends on: the content of each path, as a checksum. Two checkouts are
// compared by their trees. Paths are slash-separated, from the repository's directory; that of
// lockstep.hcl stands for its settings of the one project.
type Tree map[string]string

// Hash returns one checksum of the whole tree, in hexadecimal.
func (t Tree) Hash() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(h, "%q %s\n", name, t[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Diff returns the paths that differ between two trees, sorted.
func (t Tree) Diff(u Tree) []string {
	var out []string
	for name, sum := range t {
		if other, ok := u[name]; !ok || other != sum {
			out = append(out, name)
		}
	}
	for name := range u {
		if _, ok := t[name]; !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Inputs returns all that a plan of the project depends on: the files in and below its directory
// and its modules', its variable files, the files that its patterns match, its settings in
// lockstep.hcl, and other paths that the plan is known to have read. Directories below its own with
// a configuration that it does not call are left out: they belong to other projects.
func Inputs(files fs.FS, p Project, read ...string) (Tree, error) {
	t := Tree{}
	own := p
	own.Modules, own.Backend, own.Apply, own.At, own.Encrypts = nil, "", "", "", false // these follow from other files, or the base branch decides them
	own.Inputs = links.Plain(own.Inputs)
	block, err := json.Marshal(own)
	if err != nil {
		return nil, fmt.Errorf("inputs of project %s: %w", p.Name, err)
	}
	whole := slices.Concat([]string{p.Dir}, p.Modules, p.VarFiles, p.BackendFiles)
	for i, name := range slices.Concat(whole, read) {
		if err := t.add(files, p, name, i >= len(whole)); err != nil {
			return nil, fmt.Errorf("inputs of project %s: %w", p.Name, err)
		}
	}
	if len(p.WhenChanged) > 0 {
		if err := t.match(files, p); err != nil {
			return nil, fmt.Errorf("inputs of project %s: %w", p.Name, err)
		}
	}
	t[FileName] = sum(block)
	return t, nil
}

// Everything returns all that a plan of the project depends on if programs run for it, which can
// read any file: the whole checkout, without git's own files and the files that are installed in
// the project's directory to plan there.
func Everything(files fs.FS, p Project) (Tree, error) {
	t, err := Inputs(files, p)
	if err != nil {
		return nil, err
	}
	settings := t[FileName]
	err = fs.WalkDir(files, ".", func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || at == path.Join(p.Dir, ".terraform")):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		return t.file(files, at)
	})
	if err != nil {
		return nil, fmt.Errorf("inputs of project %s: %w", p.Name, err)
	}
	// Of lockstep.hcl both count: the project's settings, and the text, which a program may read.
	t[FileName] = sum([]byte(settings + t[FileName]))
	return t, nil
}

// add adds the content of a name: a file, a whole directory, or, if listed, only the names in a
// directory. A missing name is added as missing.
func (t Tree) add(files fs.FS, p Project, name string, listed bool) error {
	info, err := fs.Stat(files, name)
	if err != nil || !info.IsDir() {
		return t.file(files, name)
	}
	if listed {
		return t.listing(files, name)
	}
	return fs.WalkDir(files, name, func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && at != name && (d.Name() == ".git" || d.Name() == ".terraform" || foreign(files, p, at)):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		return t.file(files, at)
	})
}

// foreign reports whether a directory belongs to another root module.
func foreign(files fs.FS, p Project, dir string) bool {
	return !slices.ContainsFunc(p.Modules, func(m string) bool { return m == dir || within(m, dir) || within(dir, m) }) && configured(files, dir)
}

// match adds the files that the project's patterns match.
func (t Tree) match(files fs.FS, p Project) error {
	return fs.WalkDir(files, ".", func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == ".terraform"):
			return fs.SkipDir
		case d.IsDir() || !p.matches(at):
			return nil
		}
		return t.file(files, at)
	})
}

// file adds a file: its content, and for a symbolic link its target, too. A link that cannot be
// followed is added by its target alone.
func (t Tree) file(files fs.FS, name string) error {
	link := ""
	if info, err := fs.Lstat(files, name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if link, err = fs.ReadLink(files, name); err != nil {
			return err
		}
	}
	f, err := files.Open(name)
	switch {
	case link != "" && err != nil:
		t[name] = sum([]byte("link " + link))
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		t[name] = "absent"
		return nil
	case err != nil:
		return err
	}
	defer f.Close()
	h := sha256.New()
	if link != "" {
		fmt.Fprintf(h, "link %s\n", link)
	}
	if info, err := f.Stat(); err != nil {
		return err
	} else if info.Mode().IsRegular() {
		if _, err := io.Copy(h, f); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	t[name] = hex.EncodeToString(h.Sum(nil))
	return nil
}

// listing adds the names in a directory, without those that planning puts there.
func (t Tree) listing(files fs.FS, dir string) error {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return err
	}
	var names []string
	for _, e := range entries {
		if e.Name() == ".terraform" {
			continue
		}
		names = append(names, fmt.Sprintf("%q %v", e.Name(), e.Type()))
	}
	t[path.Join(dir, "*")] = sum([]byte(strings.Join(names, "\n")))
	return nil
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}
