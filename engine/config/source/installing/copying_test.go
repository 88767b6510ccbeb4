package installing_test

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/config/source"
)

// A module is copied without what is hidden in it, from wherever it comes, and nothing else
// is left anywhere.
func TestCopy(t *testing.T) {
	s := newSite(t)
	local := t.TempDir()
	for _, name := range []string{"main.tf", ".hidden"} {
		if err := os.WriteFile(filepath.Join(local, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	special := t.TempDir()
	socket, err := net.Listen("unix", filepath.Join(special, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for _, test := range []struct {
		from, files, fails string
	}{
		{"git::SERVER/git/net.git//sub?ref=v1", "deep/x.tf main.tf", ""},
		{"REGISTRY/acme/vpc/aws", "main.tf modules/x/main.tf modules/y/main.tf", ""},
		{"REGISTRY/acme/vpc/aws//modules/x", "main.tf", ""},
		{local, "main.tf", ""},
		{special, "", "The module has the special file socket"},
		{"git::SERVER/git/net.git//none?ref=v1", "", "has no directory none"},
		{"git::SERVER/git/none.git", "", "Failed to download module: Could not download module \"root\""},
		{"REGISTRY/acme/none/aws", "", "Module not found"},
	} {
		a, err := source.Parse(strings.NewReplacer("SERVER", s.server.URL(), "REGISTRY", s.server.Address()).Replace(test.from))
		if err != nil {
			t.Fatal(err)
		}
		into := t.TempDir()
		ds := s.installer().Copy(t.Context(), a, filepath.Join(into, "copy"))
		if ds.HasErrors() != (test.fails != "") || !strings.Contains(ds.Error(), test.fails) {
			t.Errorf("%s: %v, want %q", test.from, ds, test.fails)
		}
		for _, d := range ds {
			if d.Subject != nil {
				t.Errorf("%s: %v at %v", test.from, d, d.Subject)
			}
		}
		var files []string
		if err := filepath.WalkDir(into, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			name, err := filepath.Rel(filepath.Join(into, "copy"), path)
			files = append(files, filepath.ToSlash(name))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.files, strings.Join(files, " ")); diff != "" {
			t.Errorf("%s: %s", test.from, diff)
		}
		if left, err := os.ReadDir(into); err != nil || len(left) > 1 || test.fails != "" && len(left) > 0 {
			t.Errorf("%s: left are %v, %v", test.from, left, err)
		}
	}
}
