package source

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// TestTrees reads the same files through each kind of tree.
func TestTrees(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"live/prod/main.tf":     "root",
		"live/prod/net/net.tf":  "net",
		"live/prod/net/x/y.tf":  "deep",
		"live/shared/shared.tf": "shared",
	}
	dir := t.TempDir()
	mapFS := fstest.MapFS{}
	byName := map[string][]byte{}
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		mapFS[name] = &fstest.MapFile{Data: []byte(text)}
		rel, err := filepath.Rel("live/prod", name)
		if err != nil {
			t.Fatal(err)
		}
		byName[filepath.ToSlash(rel)] = []byte(text)
	}
	trees := map[string]Tree{
		"directory":   Dir(filepath.Join(dir, "live", "prod")),
		"file system": FS(mapFS, "live/prod"),
		"files":       Files(byName),
	}
	for kind, tree := range trees {
		t.Run(kind, func(t *testing.T) {
			for dir, want := range map[string][]string{
				".": {"main.tf"}, "net": {"net.tf"}, "net/x": {"y.tf"}, "../shared": {"shared.tf"},
			} {
				got, err := tree.ReadDir(dir)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("ReadDir(%q) = %q, %v, want %q", dir, got, err, want)
				}
			}
			if _, err := tree.ReadDir("none"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("ReadDir of no directory: %v", err)
			}
			if b, err := tree.ReadFile("../shared/shared.tf"); err != nil || string(b) != "shared" {
				t.Errorf("ReadFile of a neighbour = %q, %v", b, err)
			}
			if _, err := tree.ReadFile("none.tf"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("ReadFile of no file: %v", err)
			}
		})
	}
	if _, err := trees["file system"].ReadDir("../../.."); !errors.Is(err, errOutside) {
		t.Errorf("a path out of the checkout: %v", err)
	}
	if _, err := trees["file system"].ReadFile("/etc/passwd"); !errors.Is(err, errOutside) {
		t.Errorf("an absolute path in a checkout: %v", err)
	}
}

// TestNeighbourOfLink checks that ".." means the parent of the place that a symbolic
// link leads to, as it does for every other program.
func TestNeighbourOfLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, d := range []string{"real/root", "real/shared"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "real/shared/x.tf"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "real/root"), filepath.Join(dir, "link")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	names, err := Dir(filepath.Join(dir, "link")).ReadDir("../shared")
	if err != nil || !slices.Equal(names, []string{"x.tf"}) {
		t.Errorf("ReadDir = %q, %v", names, err)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		kind Kind
		path string
	}{
		"./net":                                 {Local, "./net"},
		"../shared/":                            {Local, "../shared"},
		"./a/../b":                              {Local, "./b"},
		"./":                                    {Local, "./"},
		"..":                                    {Local, ".."},
		`.\net\x`:                               {Local, "./net/x"},
		"hashicorp/consul/aws":                  {Registry, ""},
		"hashicorp/consul/aws//modules/x":       {Registry, ""},
		"example.com/org/name/system":           {Registry, ""},
		"github.com/org/repo":                   {Remote, ""},
		"git::https://example.com/x.git?ref=v1": {Remote, ""},
		"git@github.com:org/repo.git":           {Remote, ""},
		"https://example.com/x.zip":             {Remote, ""},
		"bucket.s3.amazonaws.com/x.zip":         {Remote, ""},
		"/abs/path":                             {Remote, ""},
		"":                                      {},
		"net":                                   {},
		"modules/net":                           {},
		"a/b/c?ref=1":                           {},
		`m\n`:                                   {},
	} {
		a, err := Parse(text)
		if want.kind == 0 {
			if err == nil {
				t.Errorf("Parse(%q) = %v, want an error", text, a)
			}
			continue
		}
		if err != nil || a.Kind != want.kind || a.Path != want.path || a.Text != text {
			t.Errorf("Parse(%q) = %+v, %v", text, a, err)
		}
	}
}

// TestManifest writes what the stock tool writes for a module within a module.
func TestManifest(t *testing.T) {
	t.Parallel()
	const want = `{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a","Source":"./m","Dir":"m"},` +
		`{"Key":"a.n","Source":"registry.terraform.io/x/y/z","Version":"1.2.3","Dir":".terraform/modules/a.n"}]}`
	m, err := ParseManifest([]byte(want))
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	x, ok := m.Lookup()("a.n")
	a, err := Parse("x/y/z")
	if !ok || err != nil || !a.Same(x.Source) || x.Version != "1.2.3" {
		t.Errorf("entry %+v, %v, %v", x, ok, err)
	}
	if empty, _ := (Manifest{}).Encode(); string(empty) != `{"Modules":[]}` {
		t.Errorf("empty manifest %s", empty)
	}
	if _, err := ParseManifest([]byte("[")); err == nil {
		t.Error("no error for a broken manifest")
	}
}
