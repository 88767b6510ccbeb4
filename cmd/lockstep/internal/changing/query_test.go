package changing

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/events"
)

// A generated file is there when the query has ended well, and nothing is left of it otherwise.
func TestGeneratedFile(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		found  int
		finish bool
		want   string // "": no file
	}{
		"two objects": {2, true, "# __generated__ by Terraform\n# Please review these resources and move them into your main configuration files.\n\n# __generated__ by Terraform\nresource {}\n\nimport {}\n\nresource {}\n\nimport {}\n\n\n"},
		"no object":   {0, true, ""},
		"a failure":   {1, false, ""},
	} {
		dir := t.TempDir()
		f, ds := newGeneratedFile(&cli.App{Chdir: dir}, "found.tf", nil)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		for range tc.found {
			f.add(events.Query{Kind: events.QueryFound, Address: "list.x.all", Found: events.Found{Resource: "resource {}", Import: "import {}"}})
		}
		f.add(events.Query{Kind: events.QueryComplete, Address: "list.x.all", Total: tc.found})
		if tc.finish {
			if ds := f.finish(); ds.HasErrors() {
				t.Error(name, ds)
			}
		}
		f.discard()
		got, _ := os.ReadFile(filepath.Join(dir, "found.tf"))
		if string(got) != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 != (tc.want != "") || len(left) > 1 {
			t.Errorf("%s: left behind: %v", name, left)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "found.tf"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ds := newGeneratedFile(&cli.App{Chdir: dir}, "found.tf", nil); !ds.HasErrors() {
		t.Error("an existing file is overwritten")
	}
}
