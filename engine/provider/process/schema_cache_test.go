package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var cachedLab = CachedPlugin{Source: "registry.terraform.io/lockstep/lab", Version: "1.0.0", Checksum: "h1:abc", Environ: []string{"A=1"}}

func TestKeptAnswersAreRecalled(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "schemas")
	if got := OpenSchemaCache(dir).Of(cachedLab).Recall(); got != nil {
		t.Errorf("recalled %q before anything was kept", got)
	}
	answer := bytes.Repeat([]byte("schema\n"), 1000)
	OpenSchemaCache(dir).Of(cachedLab).Keep(answer)
	if got := OpenSchemaCache(dir).Of(cachedLab).Recall(); !bytes.Equal(got, answer) {
		t.Errorf("recalled %d bytes", len(got))
	}
	OpenSchemaCache(dir).Of(cachedLab).Keep(nil)
	if got := OpenSchemaCache(dir).Of(cachedLab).Recall(); got == nil || len(got) > 0 {
		t.Errorf("recalled %q of an empty answer", got)
	}
}

// TestEntriesAreOfOnePlugin changes each fact that a schema depends on, and those that it does not.
func TestEntriesAreOfOnePlugin(t *testing.T) {
	t.Parallel()
	c := OpenSchemaCache(t.TempDir())
	c.Of(cachedLab).Keep([]byte("lab"))
	for name, p := range map[string]CachedPlugin{
		"source":   {"registry.terraform.io/evil/lab", cachedLab.Version, cachedLab.Checksum, cachedLab.Environ},
		"version":  {cachedLab.Source, "1.0.1", cachedLab.Checksum, cachedLab.Environ},
		"checksum": {cachedLab.Source, cachedLab.Version, "h1:abd", cachedLab.Environ},
		"variable": {cachedLab.Source, cachedLab.Version, cachedLab.Checksum, []string{"A=1", "LAB_BETA=true"}},
		"value":    {cachedLab.Source, cachedLab.Version, cachedLab.Checksum, []string{"A=2"}},
		"unknown":  {cachedLab.Source, cachedLab.Version, "", cachedLab.Environ},
	} {
		if got := c.Of(p).Recall(); got != nil {
			t.Errorf("%s: another plugin's entry", name)
		}
	}
	for _, same := range []string{"TF_VAR_x=1", "PWD=/x", "AWS_SESSION_TOKEN=x", "TF_LOG=trace"} {
		p := cachedLab
		p.Environ = []string{same, "A=1"}
		if got := c.Of(p).Recall(); string(got) != "lab" {
			t.Errorf("%s: %q", same, got)
		}
	}
	nowhere := OpenSchemaCache("").Of(cachedLab)
	if nowhere.Keep([]byte("x")); nowhere.Recall() != nil {
		t.Error("a cache without a directory has an entry")
	}
}

// TestBadEntriesCountAsMissing damages an entry in each way, and puts other files into its place.
func TestBadEntriesCountAsMissing(t *testing.T) {
	t.Parallel()
	other := cachedLab
	other.Version = "2.0.0"
	for name, damage := range map[string]func(t *testing.T, c SchemaCache, path string, good []byte){
		"cut":   func(t *testing.T, _ SchemaCache, path string, good []byte) { writeCached(t, path, good[:len(good)-1]) },
		"empty": func(t *testing.T, _ SchemaCache, path string, _ []byte) { writeCached(t, path, nil) },
		"flipped": func(t *testing.T, _ SchemaCache, path string, good []byte) {
			good[len(good)-2] ^= 1
			writeCached(t, path, good)
		},
		"longer":  func(t *testing.T, _ SchemaCache, path string, good []byte) { writeCached(t, path, append(good, 'x')) },
		"no head": func(t *testing.T, _ SchemaCache, path string, good []byte) { writeCached(t, path, []byte("schema")) },
		"swapped": func(t *testing.T, c SchemaCache, path string, _ []byte) {
			c.Of(other).Keep([]byte("other"))
			renameCached(t, c.Of(other).path, path)
		},
		"writeable": func(t *testing.T, _ SchemaCache, path string, _ []byte) { chmodCached(t, path, 0o622) },
		"directory": func(t *testing.T, _ SchemaCache, path string, _ []byte) {
			renameCached(t, path, path+"2")
			mkdirCached(t, path)
		},
		"too large": func(t *testing.T, _ SchemaCache, path string, _ []byte) { truncateCached(t, path, maxCached+1) },
	} {
		c := OpenSchemaCache(t.TempDir())
		e := c.Of(cachedLab)
		e.Keep([]byte("schema"))
		good, err := os.ReadFile(e.path)
		if err != nil {
			t.Fatal(err)
		}
		damage(t, c, e.path, good)
		if got := c.Of(cachedLab).Recall(); got != nil {
			t.Errorf("%s: recalled %q", name, got)
		}
		if name == "directory" {
			continue
		}
		if e.Keep([]byte("again")); string(c.Of(cachedLab).Recall()) != "again" {
			t.Errorf("%s: the entry is not replaced", name)
		}
	}
}

func TestOldEntriesGo(t *testing.T) {
	t.Parallel()
	c := OpenSchemaCache(t.TempDir())
	start := time.Now().Add(-1000 * time.Hour)
	version := func(i int) *CacheEntry {
		p := cachedLab
		p.Version = fmt.Sprint(i)
		return c.Of(p)
	}
	for i := range maxEntries + 5 {
		e := version(i)
		e.Keep([]byte("x"))
		at := start.Add(time.Duration(i) * time.Hour)
		if err := os.Chtimes(e.path, at, at); err != nil {
			t.Fatal(err)
		}
		version(0).Recall() // which is thereby the latest
	}
	paths, err := filepath.Glob(filepath.Join(c.dir, "*"))
	if err != nil || len(paths) != maxEntries || version(0).Recall() == nil || version(1).Recall() != nil {
		t.Errorf("%d entries, %v", len(paths), err)
	}
}

func writeCached(t *testing.T, path string, b []byte) { mustCache(t, os.WriteFile(path, b, 0o600)) }

func renameCached(t *testing.T, from, to string) { mustCache(t, os.Rename(from, to)) }

func chmodCached(t *testing.T, path string, mode os.FileMode) { mustCache(t, os.Chmod(path, mode)) }

func mkdirCached(t *testing.T, path string) { mustCache(t, os.Mkdir(path, 0o700)) }

func truncateCached(t *testing.T, path string, size int64) { mustCache(t, os.Truncate(path, size)) }

func mustCache(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
