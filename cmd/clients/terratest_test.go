package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestTerratest runs the test in testdata/terratest, which is a program of another module: it
// plans, applies, asks for outputs of all types, and destroys.
func TestTerratest(t *testing.T) {
	t.Parallel()
	program := client(t, "bin", "terratest")
	both(t, func(t *testing.T, l tool) *record {
		dir, home := unpack(t, "testdata/terratest.txtar"), t.TempDir()
		result := filepath.Join(home, "result.json")
		cmd := exec.Command(program, "-test.v", "-test.run=^TestLife$")
		cmd.Dir, cmd.Env = dir, append(environ(t, l, home), "RESULT="+result)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		data, err := os.ReadFile(result)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"plan exit code": 2`, `"exit code of no changes": 0`, `"no such output fails": true`, `"warnings fail": true`} {
			if !strings.Contains(string(data), want) {
				t.Errorf("the result lacks %s:\n%s", want, data)
			}
		}
		r := &record{}
		r.keep("result", string(data), dir)
		return r
	})
}

// unpack writes the files of an archive into a directory that ends with the test.
func unpack(t *testing.T, archive string) string {
	t.Helper()
	a, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range a.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
