package source

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	if names, err := Saved(byName).ReadDir("none"); err != nil || len(names) != 0 {
		t.Errorf("ReadDir of a saved module without files: %q, %v", names, err)
	}
	if names, err := Saved(byName).ReadDir("../shared"); err != nil || !slices.Equal(names, []string{"shared.tf"}) {
		t.Errorf("ReadDir of a saved module: %q, %v", names, err)
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
		t.Fatal(err)
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
		"..":                                    {Local, "./.."},
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

// TestNormalForms has what Terraform 1.11.4 makes of addresses.
func TestNormalForms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"github.com/org/repo":                          "git::https://github.com/org/repo.git",
		"github.com/org/repo.git":                      "git::https://github.com/org/repo.git",
		"github.com/org/repo//a/b?ref=v1":              "git::https://github.com/org/repo.git//a/b?ref=v1",
		"github.com/org/repo/sub?ref=v1":               "git::https://github.com/org/repo.git//sub?ref=v1",
		"git::github.com/org/repo":                     "git::https://github.com/org/repo.git",
		"bitbucket.org/org/repo":                       "git::https://bitbucket.org/org/repo.git",
		"git@github.com:org/repo.git//x?ref=v2":        "git::ssh://git@github.com/org/repo.git//x?ref=v2",
		"git::git@example.com:org/repo.git":            "git::ssh://git@example.com/org/repo.git",
		"git::ssh://git@example.com:22/x":              "git::ssh://git@example.com:22/x",
		"git::https://user:pw@example.com/r.git?ref=a": "git::https://user:pw@example.com/r.git?ref=a",
		"git::https://example.com/r.git//a/../x":       "git::https://example.com/r.git//x",
		"git::https://example.com/r.git//x//y":         "git::https://example.com/r.git//x/y",
		"bucket.s3.amazonaws.com/x.zip":                "s3::https://s3.amazonaws.com/bucket/x.zip",
		"bucket.s3.eu-west-1.amazonaws.com/x/y.zip//z": "s3::https://s3.eu-west-1.amazonaws.com/bucket/x/y.zip//z",
		"s3-eu-west-1.amazonaws.com/bucket/k.zip":      "s3::https://s3-eu-west-1.amazonaws.com/bucket/k.zip",
		"s3::https://s3.amazonaws.com/b/k.zip//d":      "s3::https://s3.amazonaws.com/b/k.zip//d",
		"https://example.com/m.zip//*?archive=zip":     "https://example.com/m.zip//*?archive=zip",
		"https://example.com/m?archive=zip&x=1":        "https://example.com/m?archive=zip&x=1",
		"http::https://example.com/x.zip":              "http::https://example.com/x.zip",
		"hg::http://example.com/x":                     "hg::http://example.com/x",
		"/abs/path":                                    "file:///abs/path",
		"hashicorp/consul/aws":                         "registry.terraform.io/hashicorp/consul/aws",
		"Example.com/org/name/system//modules/x":       "example.com/org/name/system//modules/x",
		"..":                                           "./..",
	} {
		a, err := Parse(text)
		if err != nil || a.String() != want {
			t.Errorf("Parse(%q) = %q, %v, want %q", text, a.String(), err, want)
			continue
		}
		again, err := Parse(want)
		if err != nil || again.String() != want || again.Package != a.Package || !a.Same(want) || !a.Same(text) {
			t.Errorf("the normal form %q becomes %q, %v", want, again.String(), err)
		}
	}
	for _, text := range []string{
		"git::https://example.com/r.git//../x", "hashicorp/consul/aws//../x", "github.com/org", "user@example.com:path/x",
		"git::no-url", "https://exa mple.com/", "gitlab.com/org/repo", "a.b.c.d.e.amazonaws.com/x",
	} {
		if a, err := Parse(text); err == nil {
			t.Errorf("Parse(%q) = %q, want an error", text, a.String())
		}
	}
}

func TestRedact(t *testing.T) {
	t.Parallel()
	const text = "git::https://user:s3cret@example.com/r.git//x?ref=v1&sshkey=a2V5&x=1"
	if got, want := Redact(text), "git::https://user:REDACTED@example.com/r.git//x?ref=v1&sshkey=REDACTED&x=1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := Secrets(text); !slices.Equal(got, []string{"s3cret", "a2V5"}) {
		t.Errorf("secrets %q", got)
	}
	for text, want := range map[string]string{
		"https://ghp_0123456789abcdef@github.com/o/r.zip":                                       "https://REDACTED@github.com/o/r.zip",
		"git::https://ghp_0123456789abcdef@github.com/o/r.git?ref=v1":                           "git::https://REDACTED@github.com/o/r.git?ref=v1",
		"git::HTTPS://ghp_0123456789abcdef:@github.com/o/r.git":                                 "git::HTTPS://REDACTED@github.com/o/r.git",
		"https://ghp_0123456789abcdef:x-oauth-basic@github.com/o/r.git":                         "https://REDACTED@github.com/o/r.git",
		"https://gitlab.example.com/a.zip?private_token=ghp_0123456789abcdef&sha=v1":            "https://gitlab.example.com/a.zip?private_token=REDACTED&sha=v1",
		"https://b.s3.amazonaws.com/m.zip?X-Amz-Expires=9&X-Amz-Signature=ghp_0123456789abcdef": "https://b.s3.amazonaws.com/m.zip?X-Amz-Expires=9&X-Amz-Signature=REDACTED",
	} {
		if got := Redact(text); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got := Secrets(text); !slices.Equal(got, []string{"ghp_0123456789abcdef"}) {
			t.Errorf("%s: secrets %q", want, got)
		}
	}
	// git shows a password as it is meant.
	if got := Secrets("https://user:p%40ss@example.com/m.zip?sshkey=a%2Bb"); !slices.Equal(got, []string{"p%40ss", "p@ss", "a%2Bb", "a+b"}) {
		t.Errorf("secrets %q", got)
	}
	// What may be a person's name is hidden in addresses, and no word elsewhere.
	if got := Redact("https://org@dev.example.com/org/r.git"); got != "https://REDACTED@dev.example.com/org/r.git" || len(Secrets("https://org@dev.example.com/org/r.git")) != 0 {
		t.Error(got)
	}
	for _, plain := range []string{"https://example.com/m.zip?archive=zip", "git::https://git@example.com/x", "git@github.com:o/r.git", "x/y/z", "git::ssh://git@example.com/x"} {
		if Redact(plain) != plain || len(Secrets(plain)) != 0 {
			t.Errorf("%s was changed to %s", plain, Redact(plain))
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"./a", "../..", "x/y/z//s", "github.com/a/b//c?ref=d", "git@h:p", "git::https://u:p@h/r//s?sshkey=x", "u@h:p?sshkey=0123456789", "https://u:0123456789@h\x00", "b.s3.amazonaws.com/k", "/abs//x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := Parse(text)
		for _, s := range Secrets(text) {
			if err != nil && len(s) > 8 && strings.Contains(err.Error(), s) {
				t.Errorf("the error shows a secret: %v", err)
			}
		}
		if err != nil || a.Kind == Local {
			return
		}
		again, err := Parse(a.String())
		if err != nil || again.String() != a.String() {
			t.Fatalf("%q becomes %q, then %q, %v", text, a.String(), again.String(), err)
		}
		if strings.HasPrefix(a.Subdir, "..") || strings.HasPrefix(a.Subdir, "/") {
			t.Fatalf("%q leads to %q", text, a.Subdir)
		}
	})
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
