package deploying

import (
	"debug/elf"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestWithTool writes the checksums of tools into settings, and leaves the rest as it is.
func TestWithTool(t *testing.T) {
	t.Parallel()
	digest, other := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	full := strings.NewReplacer("sha256:A", "sha256:"+digest, "sha256:B", "sha256:"+other)
	path := filepath.Join(t.TempDir(), "lockstep.hcl")
	for _, c := range []struct{ name, before, tool, want string }{
		{"no file", "", "tflint", "tools = {\n  tflint = \"sha256:" + digest + "\"\n}\n"},
		{"other settings", "# ours\nproject \"net\" {\n  dir = \"net\" # here\n}\n", "tflint", "# ours\nproject \"net\" {\n  dir = \"net\" # here\n}\n\ntools = {\n  tflint = \"sha256:" + digest + "\"\n}\n"},
		{"another version", "tools = {\n  tflint = \"sha256:" + other + "\"\n}\n", "tflint", "tools = {\n  tflint = \"sha256:" + digest + "\"\n}\n"},
		{"other arguments", "discover = false\n", "tflint", "discover = false\n\ntools = {\n  tflint = \"sha256:A\"\n}\n"},
		{"another tool with its version", "tools = {\n  trivy = \"sha256:B\" # 0.74.0\n}\n", "tflint", "tools = {\n  trivy  = \"sha256:B\" # 0.74.0\n  tflint = \"sha256:A\"\n}\n"},
		{"an older file of the tool", "tools = {\n  # pinned by hand\n  tflint = \"sha256:B\"\n}\n", "tflint", "tools = {\n  # pinned by hand\n  tflint = \"sha256:A\"\n}\n"},
		{"a tool with a wrong digest", "tools = {\n  trivy = \"sha256:unknown\"\n}\n", "tflint", "tools = {\n  trivy  = \"sha256:unknown\"\n  tflint = \"sha256:A\"\n}\n"},
		{"one line", "tools = { trivy = \"sha256:B\" }\n", "tf.lint-2", "tools = { trivy = \"sha256:B\"\n  \"tf.lint-2\" = \"sha256:A\"\n}\n"},
		{"one line, the tool itself", "tools = { \"tflint\" = \"\" }\n", "tflint", "tools = { \"tflint\" = \"sha256:A\" }\n"},
		{"empty", "tools = {}\n", "tflint", "tools = {\n  tflint = \"sha256:A\"\n}\n"},
		{"not a list", "tools = \"tflint\"\n", "tflint", ""},
	} {
		if err := os.WriteFile(path, []byte(full.Replace(c.before)), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := withTool(path, c.tool, digest)
		if want := full.Replace(c.want); string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %v\n%s", c.name, err, got)
		}
	}
	for name, want := range map[string]string{"../tflint": "cannot be the name of a tool", "": "cannot be the name of a tool", "${a}": "cannot be the name of a tool", "Tflint": "cannot be the name of a tool"} {
		if _, err := withTool(path, name, digest); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := os.WriteFile(path, []byte("project \"net\" {\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := withTool(path, "tflint", digest); err == nil || !strings.Contains(err.Error(), "syntax error") {
		t.Errorf("a broken file: %v", err)
	}
}

// TestReadTool takes programs that run anywhere, and refuses others with the reason.
func TestReadTool(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	got, err := readTool(self)
	if err != nil || len(got.digest) != 64 {
		t.Fatalf("this static program: %+v, %v", got, err)
	}
	if err := got.fits(false); err != nil {
		t.Errorf("on this machine: %v", err)
	}
	if err := got.fits(true); (err == nil) != (runtime.GOARCH == "arm64") {
		t.Errorf("on arm64: %v", err)
	}
	if err := (toolFile{machine: elf.EM_AARCH64}).fits(true); err != nil {
		t.Errorf("for arm64: %v", err)
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntflint\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{script: "is no program for Linux", dir: "", filepath.Join(dir, "missing"): "cannot be read", "/bin/sh": "is dynamically linked"} {
		if _, err := readTool(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	data := filepath.Join(dir, "data")
	if err := got.keepLocally(data); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(data, "tools", got.digest)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
}
