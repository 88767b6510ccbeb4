package schemacache

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var lab = Plugin{Source: "registry.terraform.io/lockstep/lab", Version: "1.0.0", Checksum: "h1:abc", Environ: []string{"A=1"}}

func TestKeptAnswersAreRecalled(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "schemas")
	if got := Open(dir).Of(lab).Recall(); got != nil {
		t.Errorf("recalled %q before anything was kept", got)
	}
	answer := bytes.Repeat([]byte("schema\n"), 1000)
	Open(dir).Of(lab).Keep(answer)
	if got := Open(dir).Of(lab).Recall(); !bytes.Equal(got, answer) {
		t.Errorf("recalled %d bytes", len(got))
	}
	Open(dir).Of(lab).Keep(nil)
	if got := Open(dir).Of(lab).Recall(); got == nil || len(got) > 0 {
		t.Errorf("recalled %q of an empty answer", got)
	}
}

// TestEntriesAreOfOnePlugin changes each fact that a schema depends on, and those that it does not.
func TestEntriesAreOfOnePlugin(t *testing.T) {
	t.Parallel()
	c := Open(t.TempDir())
	c.Of(lab).Keep([]byte("lab"))
	for name, p := range map[string]Plugin{
		"source":   {"registry.terraform.io/evil/lab", lab.Version, lab.Checksum, lab.Environ},
		"version":  {lab.Source, "1.0.1", lab.Checksum, lab.Environ},
		"checksum": {lab.Source, lab.Version, "h1:abd", lab.Environ},
		"variable": {lab.Source, lab.Version, lab.Checksum, []string{"A=1", "LAB_BETA=true"}},
		"value":    {lab.Source, lab.Version, lab.Checksum, []string{"A=2"}},
		"unknown":  {lab.Source, lab.Version, "", lab.Environ},
	} {
		if got := c.Of(p).Recall(); got != nil {
			t.Errorf("%s: another plugin's entry", name)
		}
	}
	for _, same := range []string{"TF_VAR_x=1", "PWD=/x", "AWS_SESSION_TOKEN=x", "TF_LOG=trace"} {
		p := lab
		p.Environ = []string{same, "A=1"}
		if got := c.Of(p).Recall(); string(got) != "lab" {
			t.Errorf("%s: %q", same, got)
		}
	}
	nowhere := Open("").Of(lab)
	if nowhere.Keep([]byte("x")); nowhere.Recall() != nil {
		t.Error("a cache without a directory has an entry")
	}
}

// TestBadEntriesCountAsMissing damages an entry in each way, and puts other files into its place.
func TestBadEntriesCountAsMissing(t *testing.T) {
	t.Parallel()
	other := lab
	other.Version = "2.0.0"
	for name, damage := range map[string]func(t *testing.T, c Cache, path string, good []byte){
		"cut":     func(t *testing.T, _ Cache, path string, good []byte) { write(t, path, good[:len(good)-1]) },
		"empty":   func(t *testing.T, _ Cache, path string, _ []byte) { write(t, path, nil) },
		"flipped": func(t *testing.T, _ Cache, path string, good []byte) { good[len(good)-2] ^= 1; write(t, path, good) },
		"longer":  func(t *testing.T, _ Cache, path string, good []byte) { write(t, path, append(good, 'x')) },
		"no head": func(t *testing.T, _ Cache, path string, good []byte) { write(t, path, []byte("schema")) },
		"swapped": func(t *testing.T, c Cache, path string, _ []byte) {
			c.Of(other).Keep([]byte("other"))
			rename(t, c.Of(other).path, path)
		},
		"writeable": func(t *testing.T, _ Cache, path string, _ []byte) { chmod(t, path, 0o622) },
		"directory": func(t *testing.T, _ Cache, path string, _ []byte) { rename(t, path, path+"2"); mkdir(t, path) },
		"too large": func(t *testing.T, _ Cache, path string, _ []byte) { truncate(t, path, most+1) },
	} {
		c := Open(t.TempDir())
		e := c.Of(lab)
		e.Keep([]byte("schema"))
		good, err := os.ReadFile(e.path)
		if err != nil {
			t.Fatal(err)
		}
		damage(t, c, e.path, good)
		if got := c.Of(lab).Recall(); got != nil {
			t.Errorf("%s: recalled %q", name, got)
		}
		if name == "directory" {
			continue
		}
		if e.Keep([]byte("again")); string(c.Of(lab).Recall()) != "again" {
			t.Errorf("%s: the entry is not replaced", name)
		}
	}
}

func TestOldEntriesGo(t *testing.T) {
	t.Parallel()
	c := Open(t.TempDir())
	start := time.Now().Add(-1000 * time.Hour)
	version := func(i int) *Entry {
		p := lab
		p.Version = fmt.Sprint(i)
		return c.Of(p)
	}
	for i := range mostEntries + 5 {
		e := version(i)
		e.Keep([]byte("x"))
		at := start.Add(time.Duration(i) * time.Hour)
		if err := os.Chtimes(e.path, at, at); err != nil {
			t.Fatal(err)
		}
		version(0).Recall() // which is thereby the latest
	}
	paths, err := filepath.Glob(filepath.Join(c.dir, "*"))
	if err != nil || len(paths) != mostEntries || version(0).Recall() == nil || version(1).Recall() != nil {
		t.Errorf("%d entries, %v", len(paths), err)
	}
}

func write(t *testing.T, path string, b []byte) { must(t, os.WriteFile(path, b, 0o600)) }

func rename(t *testing.T, from, to string) { must(t, os.Rename(from, to)) }

func chmod(t *testing.T, path string, mode os.FileMode) { must(t, os.Chmod(path, mode)) }

func mkdir(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) }

func truncate(t *testing.T, path string, size int64) { must(t, os.Truncate(path, size)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
