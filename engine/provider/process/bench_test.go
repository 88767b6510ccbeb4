//go:build unix

package process_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/provider/process"
)

// large builds the plugin with 1,500 resource types.
func large(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "terraform-provider-large")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, "./testdata/large")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		t.Fatal(err)
	}
	return path
}

// BenchmarkLargeProvider starts the plugin, and uses ten of its types: in a first run, and in later ones
// that have its schema already.
func BenchmarkLargeProvider(b *testing.B) {
	path := large(b)
	memory := process.OpenSchemaCache(b.TempDir()).Of(process.CachedPlugin{Source: "large", Checksum: "h1:large"})
	for _, l := range []struct {
		name   string
		launch process.Launch
	}{
		{"asked", process.Launch{Name: "large", Path: path}},
		{"remembered", process.Launch{Name: "large", Path: path, Memory: memory}},
	} {
		b.Run(l.name, func(b *testing.B) {
			useTen(b, l.launch) // which fills the memory
			for b.Loop() {
				useTen(b, l.launch)
			}
		})
	}
}

func useTen(t testing.TB, l process.Launch) {
	t.Helper()
	c, err := l.Start(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	declared, ds := c.Schema(t.Context())
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	for i := range 10 {
		name := fmt.Sprint("large_thing_", i*100)
		s := declared.Resource("managed", name)
		if s == nil {
			t.Fatalf("no type %s", name)
		}
		if ds := c.ValidateResource(t.Context(), name, with(s.Block, map[string]cty.Value{"attribute_0": cty.StringVal("x")})); ds.HasErrors() {
			t.Fatal(ds)
		}
	}
}
