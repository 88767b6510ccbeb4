package project

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

const backend = "terraform {\n  backend \"s3\" {\n  }\n}\n"

func calls(sources ...string) string {
	s := ""
	for i, x := range sources {
		s += fmt.Sprintf("module %q {\n  source = %q\n}\n", fmt.Sprint("m", i), x)
	}
	return s
}

func tree(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, content := range files {
		out[name] = &fstest.MapFile{Data: []byte(content), Mode: 0o644}
	}
	return out
}

// describe writes projects as "name (backend): modules".
func describe(list []Project) []string {
	out := []string{}
	for _, p := range list {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s (%s): %s", p.Name, p.Backend, strings.Join(p.Modules, " "))))
	}
	return out
}

// said writes diagnostics one a line.
func said(ds diags.Diagnostics) string {
	var lines []string
	for _, d := range ds {
		lines = append(lines, d.Severity.String()+": "+d.String())
	}
	return strings.Join(lines, "\n")
}

// discovered returns the projects that Discover finds. Find has to find the first of them, and the same.
func discovered(files fs.FS) ([]Project, diags.Diagnostics) {
	r, ds := Discover(files)
	for _, p := range r.Projects[:min(len(r.Projects), 3)] {
		if got, ok := Find(files, p.Name, p.Workspace); !ok || !reflect.DeepEqual(got, p) {
			ds = append(ds, diags.Errorf(nil, "Found otherwise", "%+v, %v\n%+v", got, ok, p)...)
		}
		if _, ok := Find(files, p.Name, p.Workspace+"x"); ok {
			ds = append(ds, diags.Errorf(nil, "Found otherwise", "%s in another workspace", p.Name)...)
		}
	}
	return r.Projects, ds
}

// touchedBy returns the names of the projects that a change of a repository's files touches.
func touchedBy(t *testing.T, was, now map[string]string) string {
	t.Helper()
	a, b := linkedTree(t, was), linkedTree(t, now)
	had, _ := Discover(a)
	has, _ := Discover(b)
	return touchedIn(t, a, b, had.Projects, has.Projects)
}

// linkedTree is tree for files of which some are symbolic links, "-> TARGET", which are made on disk.
func linkedTree(t *testing.T, files map[string]string) fs.FS {
	t.Helper()
	if !slices.ContainsFunc(slices.Collect(maps.Values(files)), func(text string) bool { return strings.HasPrefix(text, "-> ") }) {
		return tree(files)
	}
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	for _, name := range slices.Sorted(maps.Keys(files)) {
		err := root.MkdirAll(path.Dir(name), 0o755)
		if target, is := strings.CutPrefix(files[name], "-> "); err == nil && is {
			err = root.Symlink(target, name)
		} else if err == nil {
			err = root.WriteFile(name, []byte(files[name]), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root.FS()
}

func touchedIn(t *testing.T, was, now fs.FS, had, has []Project, seen ...FilesRead) string {
	t.Helper()
	all, err := Touched(t.Context(), was, now, had, has, func(Project) []FilesRead { return seen })
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range all.Projects {
		names = append(names, p.Name)
	}
	return strings.Join(names, " ")
}

// with returns files after changes, of which those without a text are deleted: "-> TARGET" is a symbolic link.
func with(files map[string]string, changes ...string) map[string]string {
	out := maps.Clone(files)
	for _, c := range changes {
		name, text, is := strings.Cut(c, "=")
		if out[name] = text; !is {
			delete(out, name)
		}
	}
	return out
}
