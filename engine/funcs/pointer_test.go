package funcs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/funcs"
)

// TestPointersOfGitLFS holds that no function takes a pointer of Git LFS for the file.
func TestPointersOfGitLFS(t *testing.T) {
	dir := t.TempDir()
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
	for name, text := range map[string]string{"fn.zip": pointer, "notes.txt": "about " + pointer} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	table := funcs.Table(funcs.Scope{BaseDir: dir, Files: funcs.OSFiles{}})
	for _, name := range []string{"file", "filebase64", "filebase64sha256", "filemd5", "filesha512", "templatefile"} {
		args := func(file string) []cty.Value {
			out := []cty.Value{cty.StringVal(file)}
			if name == "templatefile" {
				out = append(out, cty.EmptyObjectVal)
			}
			return out
		}
		if _, err := table[name].Call(args("fn.zip")); err == nil || !strings.Contains(err.Error(), "fn.zip") || !strings.Contains(err.Error(), "git lfs pull") || !strings.Contains(err.Error(), "archives") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := table[name].Call(args("notes.txt")); err != nil {
			t.Errorf("%s of another text: %v", name, err)
		}
	}
	if v, err := table["fileexists"].Call([]cty.Value{cty.StringVal("fn.zip")}); err != nil || v.False() {
		t.Errorf("%#v, %v", v, err)
	}
}
