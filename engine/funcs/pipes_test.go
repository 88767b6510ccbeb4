//go:build unix

package funcs

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"
)

// A pipe in a checkout keeps nobody waiting for who writes to it.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"file", "filebase64", "filesha256", "templatefile"} {
		f := Table(Scope{BaseDir: dir, Files: Confined(root)})[name]
		args := []cty.Value{cty.StringVal("pipe")}
		if name == "templatefile" {
			args = append(args, cty.EmptyObjectVal)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := f.Call(args)
			ended <- err
		}()
		select {
		case err := <-ended:
			if err == nil || !strings.Contains(err.Error(), "neither a regular file") {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("%s waits", name)
		}
	}
}
