package providertest

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A Plugin is a real plugin on disk.
type Plugin struct {
	Source  string // "registry.terraform.io/lockstep/lab"
	Version string
	Path    string // the executable
}

// Find returns a plugin that .ci/parts has installed. source is its source address without a host
// ("lockstep/lab", "hashicorp/time"). If the plugin is missing, the test is skipped, or fails if
// LOCKSTEP_TEST_PARTS is "require".
func Find(t testing.TB, source string) Plugin {
	t.Helper()
	full := "registry.terraform.io/" + source
	platform := runtime.GOOS + "_" + runtime.GOARCH
	found, _ := filepath.Glob(filepath.Join(Mirror(t), full, "*", platform, "terraform-provider-*"))
	if len(found) == 0 {
		missing(t, full)
	}
	path := found[len(found)-1]
	return Plugin{Source: full, Version: filepath.Base(filepath.Dir(filepath.Dir(path))), Path: path}
}

// Mirror returns the filesystem mirror that .ci/parts fills: the directory "mirror" in the directory
// LOCKSTEP_PARTS (".parts" in the repository if the variable is not set). It may not exist.
func Mirror(t testing.TB) string {
	t.Helper()
	root := repository(t)
	parts := os.Getenv("LOCKSTEP_PARTS")
	if parts == "" {
		parts = ".parts"
	}
	if !filepath.IsAbs(parts) {
		parts = filepath.Join(root, parts)
	}
	return filepath.Join(parts, "mirror")
}

// missing ends a test that needs a plugin which is not installed.
func missing(t testing.TB, what string) {
	t.Helper()
	text := what + " is not installed: run .ci/parts"
	if os.Getenv("LOCKSTEP_TEST_PARTS") == "require" {
		t.Fatal(text)
	}
	t.Skip(text)
}

// repository returns the repository's root, which is above the working directory.
func repository(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(mod), "module github.com/lockstep-iac/lockstep\n") {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("the test does not run inside the repository")
		}
		dir = filepath.Dir(dir)
	}
}
