package parsing

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

// TestPointersOfGitLFS holds that a file of a configuration which is a pointer is an error that says so.
func TestPointersOfGitLFS(t *testing.T) {
	src := []byte("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n")
	for name, parse := range map[string]func([]byte, string) (*hcl.File, hcl.Diagnostics){"main.tf": Config, "main.tf.json": JSON} {
		f, ds := parse(src, name)
		if f == nil || f.Body == nil || len(ds) != 1 || ds[0].Summary != "Git LFS pointer" || !strings.Contains(ds[0].Detail, name) || !strings.Contains(ds[0].Detail, "git lfs pull") {
			t.Errorf("%s: %v", name, ds)
		}
	}
	if _, ds := Config(append(src, strings.Repeat("#", PointerSize)...), "main.tf"); len(ds) > 0 && ds[0].Summary == "Git LFS pointer" {
		t.Error("a long file is none")
	}
}
