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

	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
	"github.com/lockstep-iac/lockstep/functions/project/projectinputs"
	"github.com/lockstep-iac/lockstep/functions/project/terragrunt"
)

// A Tree has everything that a plan depends on. It has the checksum of the content of each path. Checkouts are
// compared by their trees. Paths are slash-separated and relative to the repository's root. The entry for
// lockstep.hcl is the checksum of the settings of one project only.
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

// Inputs returns everything that a plan of the project depends on:
//
//   - the files in and below the project's directory, and in its modules' directories
//   - its variable files, and the files that its patterns match
//   - its settings in lockstep.hcl
//   - the files that Terragrunt reads for its unit
//   - the paths in read, which the plan is known to have read
//
// Symbolic links are followed inside the repository. Directories below the project's own are left out if they
// have a configuration that the project does not call, because they belong to other projects. If the project
// has patterns, files that they do not match are left out, too, unless the plan reads them.
func Inputs(files fs.FS, p Project, read ...string) (Tree, error) {
	return newCheckout(files).inputs(p, read, false)
}

// Everything returns what a plan of the project depends on if the plan runs programs, because programs can read
// any file. It is the whole checkout, except git's own files and the files that the plan installs in the
// project's directory.
func Everything(files fs.FS, p Project) (Tree, error) {
	c := newCheckout(files)
	t, err := c.inputs(p, nil, false)
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
		return c.file(t, at)
	})
	if err != nil {
		return nil, fmt.Errorf("inputs of project %s: %w", p.Name, err)
	}
	// The entry for lockstep.hcl has both the project's settings and the whole text, because a program may read
	// the text.
	t[FileName] = sum([]byte(settings + t[FileName]))
	return t, nil
}

// A checkout has the files of a commit, and caches what was examined.
type checkout struct {
	files      fs.FS
	sums       map[string]string
	reals      map[string]string
	configured map[string]bool
}

func newCheckout(files fs.FS) *checkout {
	return &checkout{files, map[string]string{}, map[string]string{".": "."}, map[string]bool{}}
}

// inputs does the work of [Inputs]. For a comparison it leaves out the project's settings and the files that
// its patterns match, because these are compared separately.
func (c *checkout) inputs(p Project, read []string, comparison bool) (Tree, error) {
	t := Tree{}
	w := &walker{c: c, t: t, p: p, walked: map[string]bool{}, comparison: comparison}
	if p.Unit != nil {
		read = slices.Concat(read, p.Unit.Reads)
	}
	whole := slices.Concat([]string{p.Dir}, p.Modules, p.VarFiles, p.BackendFiles)
	for i, name := range slices.Concat(whole, read) {
		if err := w.add(name, i >= len(whole)); err != nil {
			return nil, fmt.Errorf("inputs of project %s: %w", p.Name, err)
		}
	}
	if comparison {
		return t, nil
	}
	if len(p.WhenChanged) > 0 {
		names, err := c.names()
		if err != nil {
			return nil, fmt.Errorf("inputs of project %s: %w", p.Name, err)
		}
		for _, at := range names {
			if !p.matches(at) {
				continue
			}
			if err := c.file(t, at); err != nil {
				return nil, fmt.Errorf("inputs of project %s: %w", p.Name, err)
			}
		}
	}
	t[FileName] = sum(append(p.block(), t[FileName]...))
	if u := p.Unit; u != nil { // The meaning of terragrunt.hcl is an input, too, in addition to its text.
		name := path.Join(p.Dir, terragrunt.FileName)
		t[name] = sum([]byte(u.Digest + u.Problem + t[name]))
	}
	return t, nil
}

// block returns the settings of a project as text. It leaves out the settings that follow from other files, and
// those that the base branch decides.
func (p Project) block() []byte {
	p.Modules, p.Reads, p.Guesses, p.Backend, p.Apply, p.At, p.Encrypts = nil, nil, nil, "", "", "", false
	p.Unit = nil
	p.Inputs = projectinputs.Plain(p.Inputs)
	data, err := json.Marshal(p)
	if err != nil {
		panic(err) // it was read from a text
	}
	return data
}

// A walker adds the inputs of one project to a tree.
type walker struct {
	c      *checkout
	t      Tree
	p      Project
	walked map[string]bool // directories, by their resolved names
	all    bool            // all files count, whatever project they belong to
	// comparison is set if two commits are to be compared. The project's settings are then left out, because
	// they are compared separately.
	comparison bool
}

// add adds the content of a path: a file or a whole directory. If listed is set, it adds only the names in the
// directory, or everything below it for "/**". A path that does not exist is added as missing.
func (w *walker) add(name string, listed bool) error {
	if dir, deep := strings.CutSuffix(name, everywhere); listed && deep && (dir == "" || strings.HasSuffix(dir, "/")) {
		name = path.Clean(dir)
		w := &walker{c: w.c, t: w.t, p: w.p, walked: map[string]bool{}, all: true}
		if info, err := w.c.stat(name); err != nil || !info.IsDir() {
			return nil // a file is added by its name
		}
		return w.directory(name)
	}
	info, err := w.c.stat(name)
	if err != nil || !info.IsDir() {
		return w.c.file(w.t, name)
	}
	if listed {
		return w.c.listing(w.t, name)
	}
	return w.directory(name)
}

// directory adds the content of a directory, once.
func (w *walker) directory(dir string) error {
	real := w.c.real(dir, 0)
	if w.walked[real] {
		return nil
	}
	w.walked[real] = true
	entries, err := fs.ReadDir(w.c.files, real)
	if err != nil {
		return err
	}
	for _, d := range entries {
		at := path.Join(dir, d.Name())
		isDir, err := w.isDir(at, d)
		if err != nil {
			return err
		}
		switch {
		case isDir && (d.Name() == ".git" || d.Name() == ".terraform" || w.p.Unit != nil && d.Name() == terragrunt.Cache || !w.all && w.foreign(at)):
			continue
		case isDir:
			err = w.directory(at)
		case w.all || w.counts(at):
			err = w.c.file(w.t, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isDir reports whether an entry is a directory, or a link to a directory. It adds such a link to the tree,
// because a change of the link's target matters.
func (w *walker) isDir(at string, d fs.DirEntry) (bool, error) {
	if d.Type()&fs.ModeSymlink == 0 {
		return d.IsDir(), nil
	}
	if info, err := w.c.stat(at); err != nil || !info.IsDir() {
		return false, nil
	}
	return true, w.c.file(w.t, at)
}

// foreign reports whether a directory belongs to another root module.
func (w *walker) foreign(dir string) bool {
	called := func(m string) bool { return m == dir || within(m, dir) || within(dir, m) }
	return !slices.ContainsFunc(w.p.Modules, called) && (w.c.isConfigured(dir) || w.p.Unit != nil && w.c.isUnit(dir))
}

// counts reports whether a file in the project's directories is an input. If the project has patterns, only
// matching files and files that the plan itself reads are inputs.
func (w *walker) counts(at string) bool {
	name := path.Base(at)
	switch {
	case at == FileName || w.comparison && slices.Contains(SettingsFiles, at):
		return false // the settings of the project count instead
	case w.p.WhenChanged == nil || loading.IsFile(name):
		return true
	}
	return path.Dir(at) == w.p.Dir && (name == lockfile.Name || len(inputs.AutoFiles([]string{name})) > 0)
}

// isUnit reports whether a directory has a terragrunt.hcl.
func (c *checkout) isUnit(dir string) bool {
	_, err := c.stat(path.Join(dir, terragrunt.FileName))
	return err == nil
}

// isConfigured does the same as the function configured, and caches the results.
func (c *checkout) isConfigured(dir string) bool {
	is, ok := c.configured[dir]
	if !ok {
		is = configured(c.files, dir)
		c.configured[dir] = is
	}
	return is
}

// real returns a path with its symbolic links resolved, as long as they lead to something in the repository.
func (c *checkout) real(name string, links int) string {
	if is, ok := c.reals[name]; ok {
		return is
	}
	is := path.Join(c.real(path.Dir(name), links), path.Base(name))
	if info, err := fs.Lstat(c.files, is); err == nil && info.Mode()&fs.ModeSymlink != 0 && links < 40 {
		target, err := fs.ReadLink(c.files, is)
		if to := path.Join(path.Dir(is), target); err == nil && !path.IsAbs(target) && fs.ValidPath(to) {
			is = c.real(to, links+1)
		}
	}
	c.reals[name] = is
	return is
}

// stat describes the file at a path, following symbolic links.
func (c *checkout) stat(name string) (fs.FileInfo, error) { return fs.Stat(c.files, c.real(name, 0)) }

// maxNames is the maximum number of file names in a checkout. A file that is reachable through links to
// directories counts once for each name, because such links may form cycles.
const maxNames = 500_000

// names returns the names of all files, except git's own. It includes files that are reachable through links to
// directories.
func (c *checkout) names() ([]string, error) {
	var out []string
	var walk func(dir string, above []string) error
	walk = func(dir string, above []string) error {
		real := c.real(dir, 0)
		if slices.Contains(above, real) {
			return nil
		}
		above = append(slices.Clip(above), real)
		entries, err := fs.ReadDir(c.files, real)
		if err != nil {
			return err
		}
		for _, d := range entries {
			if d.Name() == ".git" || d.Name() == ".terraform" {
				continue
			}
			at := path.Join(dir, d.Name())
			isDir := d.IsDir()
			if d.Type()&fs.ModeSymlink != 0 {
				info, err := c.stat(at)
				isDir = err == nil && info.IsDir()
			}
			if isDir {
				if err := walk(at, above); err != nil {
					return err
				}
			}
			if d.IsDir() {
				continue
			}
			if out = append(out, at); len(out) > maxNames {
				return &LimitError{fmt.Sprintf("there are more than %d files, those behind symbolic links to directories included", maxNames)}
			}
		}
		return nil
	}
	err := walk(".", nil)
	return out, err
}

// file adds the content of a file to a tree. For a symbolic link, it also adds the target of the link. A link
// that cannot be followed is added by its target alone.
func (c *checkout) file(t Tree, name string) error {
	s, ok := c.sums[name]
	if !ok {
		var err error
		if s, err = c.sum(name); err != nil {
			return err
		}
		c.sums[name] = s
	}
	t[name] = s
	return nil
}

func (c *checkout) sum(name string) (string, error) {
	link := ""
	at := path.Join(c.real(path.Dir(name), 0), path.Base(name))
	if info, err := fs.Lstat(c.files, at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if link, err = fs.ReadLink(c.files, at); err != nil {
			return "", err
		}
	}
	f, err := c.files.Open(c.real(name, 0))
	switch {
	case link != "" && err != nil:
		return sum([]byte("link " + link)), nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return "absent", nil
	case err != nil:
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if link != "" {
		fmt.Fprintf(h, "link %s\n", link)
	}
	if info, err := f.Stat(); err != nil {
		return "", err
	} else if info.Mode().IsRegular() {
		if _, err := io.Copy(h, f); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// listing adds the names in a directory to a tree, without the names that the plan puts there.
func (c *checkout) listing(t Tree, dir string) error {
	entries, err := fs.ReadDir(c.files, c.real(dir, 0))
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
