package project

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// counting counts the files that are opened.
type counting struct {
	fs.FS
	opened *int
}

func (c counting) Open(name string) (fs.File, error) {
	*c.opened++
	return c.FS.Open(name)
}

// TestFindCost holds that finding one project of many reads no other.
func TestFindCost(t *testing.T) {
	t.Parallel()
	for settings, name := range map[string]string{"": "live/app1", "project \"one\" {\n  dir = \"live/app1\"\n}\nproject \"two\" {\n  dir = \"live/app2\"\n}\n": "one"} {
		var opened [2]int
		for i, n := range []int{3, 300} {
			files := map[string]string{"module/main.tf": "", FileName: settings}
			for k := range n {
				files[fmt.Sprintf("live/app%d/main.tf", k)] = "terraform {\n  backend \"local\" {\n  }\n}\nmodule \"m\" {\n  source = \"../../module\"\n}\n"
			}
			if p, ok := Find(counting{tree(files), &opened[i]}, name, DefaultWorkspace); !ok || p.Dir != "live/app1" {
				t.Fatalf("%q: %+v, %v", settings, p, ok)
			}
		}
		if opened[1] > opened[0] {
			t.Errorf("%q: %d files of 300 projects are opened, and %d of 3", settings, opened[1], opened[0])
		}
	}
}

// TestFindBehindLink holds that a directory behind a symbolic link is no project, as when all are searched for.
func TestFindBehindLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "net"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "net", "main.tf"), []byte("terraform {\n  backend \"local\" {\n  }\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("net", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, want := range map[string]bool{"net": true, "link": false, "nowhere": false, ".": false} {
		if _, ok := Find(root.FS(), name, DefaultWorkspace); ok != want {
			t.Errorf("%s: %v", name, ok)
		}
	}
}
