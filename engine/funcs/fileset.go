package funcs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/engine/budget"
)

// fileSetFunc returns the function fileset, which lists the regular files below a directory that match a
// pattern. The directory is a part of the pattern: its name may contain wildcards, and the pattern may lead
// out of it. Names in the result are relative to the directory.
func (t tree) fileSetFunc() function.Function {
	ty := cty.Set(cty.String)
	return function.New(&function.Spec{
		Params:       []function.Parameter{maybe(marked(text("path"))), maybe(marked(text("pattern")))},
		Type:         function.StaticReturnType(ty),
		RefineResult: notNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			dir, dirMarks := args[0].Unmark()
			pattern, patternMarks := args[1].Unmark()
			ms := cty.NewValueMarks(dirMarks, patternMarks)
			if !dir.IsKnown() || !pattern.IsKnown() {
				return cty.UnknownVal(ty).WithMarks(ms), nil
			}
			names, err := t.fileSet(dir.AsString(), pattern.AsString(), ms)
			if err != nil {
				return cty.NilVal, err
			}
			if len(names) == 0 {
				return cty.SetValEmpty(cty.String).WithMarks(ms), nil
			}
			return cty.SetVal(names).WithMarks(ms), nil
		},
	})
}

func (t tree) fileSet(dir, pattern string, ms cty.ValueMarks) ([]cty.Value, error) {
	full := filepath.Join(dir, pattern)
	g := glob{files: t.files, budget: t.budget}
	start, rest := t.base, full
	if filepath.IsAbs(full) {
		start = filepath.VolumeName(full) + string(filepath.Separator)
		rest = full[len(start):]
	}
	if err := g.match(start, "", splitPattern(filepath.ToSlash(rest)), nil); err != nil {
		return nil, fmt.Errorf("failed to glob pattern %s: %w", shown(full, ms), err)
	}
	var names []cty.Value
	for _, found := range g.found {
		n := fileName{found, ms}
		if filepath.IsAbs(full) {
			n.name = start + found
		}
		info, err := t.files.Stat(filepath.Join(start, found))
		if err != nil {
			return nil, fmt.Errorf("failed to stat %s: %w", n, n.hide(err))
		}
		if !info.Mode().IsRegular() {
			continue
		}
		name, err := filepath.Rel(dir, n.name)
		if err != nil {
			return nil, fmt.Errorf("failed to trim path of match %s: %w", n, err)
		}
		names = append(names, cty.StringVal(filepath.ToSlash(name)))
	}
	return names, nil
}

// A glob visits directories along a pattern, component by component. It silently skips directories that
// cannot be read. It may find a file twice.
type glob struct {
	files  Files
	budget *budget.Budget
	looked int64    // directories and names that were looked at
	found  []string // paths from the directory where the first match began
}

// splitPattern splits a pattern at the slashes that have no backslash before them.
func splitPattern(pattern string) []string {
	var out []string
	start := 0
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '/' && (i == 0 || pattern[i-1] != '\\') {
			out = append(out, pattern[start:i])
			start = i + 1
		}
	}
	return append(out, pattern[start:])
}

// match finds the files below dir that match the components. name is dir's path from the start. above are the
// directories that `**` has passed on the way to dir.
func (g *glob) match(dir, name string, components []string, above []fs.FileInfo) error {
	if err := g.look(1); err != nil {
		return err
	}
	for len(components) > 0 && !strings.ContainsAny(components[0], `*?[{\`) {
		dir, name = filepath.Join(dir, components[0]), filepath.Join(name, components[0])
		components = components[1:]
	}
	if _, err := g.files.Lstat(dir); err != nil {
		return nil
	}
	if len(components) == 0 {
		g.found = append(g.found, name)
		return nil
	}
	entries, ok := g.readDir(dir)
	if !ok {
		return nil
	}
	if err := g.look(int64(len(entries))); err != nil {
		return err
	}
	last := len(components) == 1
	if components[0] == "**" {
		if err := g.descend(dir, name, entries, components, above); err != nil || last {
			return err
		}
		components = components[1:]
		last = len(components) == 1
	}
	for _, e := range entries {
		ok, err := matchComponent(components[0], e.Name())
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if last {
			g.found = append(g.found, filepath.Join(name, e.Name()))
		} else if err := g.match(filepath.Join(dir, e.Name()), filepath.Join(name, e.Name()), components[1:], above); err != nil {
			return err
		}
	}
	return nil
}

// look counts visited entries, and returns an error if there are too many. With two links from each directory
// to the next, a few directories have more paths than any program can follow.
func (g *glob) look(n int64) error {
	if x := g.budget.Step(n); x != nil {
		return x
	}
	limit := g.budget.Limits().Values / 8 // each needs at least one system call
	if g.looked += n; g.looked > limit {
		return fmt.Errorf("more than %d files and directories are to be looked at, which is the limit here; name a directory with fewer, or look for symbolic links that lead to directories again and again", limit)
	}
	return nil
}

// descend continues `**` in every directory, also through symbolic links, but not in a directory that it came
// through.
func (g *glob) descend(dir, name string, entries []fs.DirEntry, components []string, above []fs.FileInfo) error {
	if info, err := g.files.Stat(dir); err == nil {
		above = append(above[:len(above):len(above)], info)
	}
	last := len(components) == 1
	for _, e := range entries {
		at, called := filepath.Join(dir, e.Name()), filepath.Join(name, e.Name())
		isDir := e.IsDir()
		if e.Type()&fs.ModeSymlink != 0 {
			info, err := g.files.Stat(at)
			if err != nil || info.IsDir() && isAmong(above, info) {
				continue
			}
			isDir = info.IsDir()
		}
		if last {
			g.found = append(g.found, called)
		}
		if isDir {
			if err := g.match(at, called, components, above); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *glob) readDir(dir string) ([]fs.DirEntry, bool) {
	info, err := g.files.Stat(dir)
	if err != nil || !info.IsDir() {
		return nil, false
	}
	f, err := g.files.Open(dir)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, false
	}
	entries, _ := d.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, true
}

// matchComponent reports whether a name without slashes matches. `!` at the start of a character class is an
// ordinary character; only `^` negates the class.
func matchComponent(pattern, name string) (bool, error) {
	ok, err := doublestar.Match(strings.ReplaceAll(pattern, "[!", `[\!`), name)
	if err != nil {
		return false, errors.New("syntax error in pattern")
	}
	return ok, nil
}

func isAmong(dirs []fs.FileInfo, dir fs.FileInfo) bool {
	return slices.ContainsFunc(dirs, func(d fs.FileInfo) bool { return os.SameFile(d, dir) })
}
