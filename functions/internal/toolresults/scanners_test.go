package toolresults

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/infra/golden"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// scanners is set by `make scanners`, which installs the programs.
var scanners = flag.Bool("scanners", false, "run the real tflint and conftest")

// TestScanners runs real programs in pinned versions, and reads what they write. Their exit codes and findings are those that
// cmd/docs/guide/step-results.md names.
func TestScanners(t *testing.T) {
	if !*scanners {
		t.Skip("make scanners runs the real programs")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.tf":            "variable \"name\" {\n}\n\nresource \"terraform_data\" \"web\" {\n  input = \"${var.name}\"\n}\n",
		"empty/main.tf":      "# nothing\n",
		"broken/main.tf":     "resource {\n",
		"policy/policy.rego": "package main\n\ndeny contains msg if {\n\tsome name\n\tinput.resource.terraform_data[name]\n\tmsg := sprintf(\"terraform_data.%s is not allowed\", [name])\n}\n",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range [][]string{
		{"tflint", "--format=sarif"}, {"tflint", "--format=junit"}, {"tflint", "--format=sarif", "--chdir=empty"}, {"tflint", "--format=sarif", "--chdir=broken"},
		{"conftest", "test", "--output", "sarif", "main.tf"}, {"conftest", "test", "--output", "junit", "main.tf"}, {"conftest", "test", "--output", "sarif", "empty/main.tf"},
		{"conftest", "test", "--output", "sarif", "--policy", "missing", "main.tf"},
	} {
		cmd := exec.CommandContext(t.Context(), statebackendtest.Part(t, "clients", "bin", c[0]), c[1:]...)
		cmd.Dir, cmd.Env = root, []string{"HOME=" + t.TempDir()}
		var out bytes.Buffer
		cmd.Stdout = &out
		exit := 0
		if err := cmd.Run(); err != nil {
			failed := new(exec.ExitError)
			if !errors.As(err, &failed) {
				t.Fatal(err)
			}
			exit = failed.ExitCode()
		}
		got, err := Read(out.Bytes(), Options{Root: root, Dir: ".", Files: os.DirFS(root)})
		fmt.Fprintf(&b, "===== %s: exit code %d, %v\n", strings.Join(c, " "), exit, err)
		if got.Findings != nil {
			b.WriteString(lined(got.Findings))
		}
		if got.Tests != nil {
			b.WriteString(testLines(got.Tests))
		}
	}
	golden.File(t, "testdata/scanners.txt", b.String())
}
