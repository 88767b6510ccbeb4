package install

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

func TestNumber(t *testing.T) {
	for text, want := range map[string]int{"": 7, "3": 3, "0": 0, "-1": 7, "x": 7} {
		if got := number(text, 7); got != want {
			t.Errorf("%q: %d", text, got)
		}
	}
}

func TestPlatforms(t *testing.T) {
	for text, ok := range map[string]bool{"linux_amd64": true, "plan9_arm": true, "linux": false, "a_b_c": false, "../_x": false, "Linux_amd64": false, "": false} {
		p, err := ParsePlatform(text)
		if (err == nil) != ok || ok && p.String() != text {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
}

func TestExecutableNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"terraform-provider-time":            true,
		"terraform-provider-time_v0.14.2":    true,
		"terraform-provider-time_v0.14.2_x5": true,
		"terraform-provider-time.exe":        true,
		"terraform-provider-time_v1.exe":     true,
		"terraform-provider-timeless":        false,
		"terraform-provider-time.sha256":     false,
		"time":                               false,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
		got, err := FindExecutable(dir, addrs.DefaultProvider("time"))
		if (err == nil) != ok || ok && got != filepath.Join(dir, name) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
