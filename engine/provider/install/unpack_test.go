package install

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/provider/install/registrytest"
)

func TestUnpackedModes(t *testing.T) {
	archive := filepath.Join(t.TempDir(), "x.zip")
	content := registrytest.Zip(t,
		registrytest.Entry{Name: "terraform-provider-foo_v1.0.0", Content: "program", Mode: 0o755},
		registrytest.Entry{Name: "suid", Content: "x", Mode: 0o755 | fs.ModeSetuid},
		registrytest.Entry{Name: "world", Content: "x", Mode: 0o666},
		registrytest.Entry{Name: "docs/", Mode: fs.ModeDir | 0o700},
		registrytest.Entry{Name: "docs/LICENSE", Content: "free", Mode: 0o600},
	)
	if err := os.WriteFile(archive, content, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "out")
	got, err := unpack(bytes.NewReader(content), int64(len(content)), dir, defaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	h1, err := hashDir(dir)
	packed, err2 := hashPacked(archive)
	if err != nil || err2 != nil || got.h1 != h1 || got.packed != packed || h1 == packed {
		t.Errorf("%+v, want %s and %s (%v, %v)", got, h1, packed, err, err2)
	}
	for name, want := range map[string]fs.FileMode{
		"terraform-provider-foo_v1.0.0": 0o755, "suid": 0o755, "world": 0o644, "docs/LICENSE": 0o644, "docs": fs.ModeDir | 0o755,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// Whatever an archive holds, only regular files and directories come out, within the
// limits, and nothing outside of the directory.
func FuzzUnpack(f *testing.F) {
	for _, name := range []string{"terraform-provider-foo", "../evil", "a/../../evil", "/evil", `..\evil`, "a/", ".", "", "a//b", "./a", "a/.", "\x00"} {
		for _, mode := range []fs.FileMode{0o644, 0o755, fs.ModeSymlink | 0o777, fs.ModeDir | 0o755, fs.ModeNamedPipe, fs.ModeDevice} {
			f.Add(registrytest.Zip(f, registrytest.Entry{Name: "a", Content: "x", Mode: 0o644}, registrytest.Entry{Name: name, Mode: mode}))
		}
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		outer := t.TempDir()
		archive := filepath.Join(outer, "x.zip")
		if err := os.WriteFile(archive, content, 0o600); err != nil {
			t.Fatal(err)
		}
		limits := Limits{Files: 5, Bytes: 1000}
		got, err := unpack(bytes.NewReader(content), int64(len(content)), filepath.Join(outer, "out"), limits)
		if err == nil {
			h1, err := hashDir(filepath.Join(outer, "out"))
			packed, err2 := hashPacked(archive)
			if err != nil || err2 != nil || got.h1 != h1 || got.packed != packed {
				t.Errorf("%+v, want %s and %s (%v, %v)", got, h1, packed, err, err2)
			}
		}
		files, size := 0, int64(0)
		_ = filepath.WalkDir(outer, func(path string, e fs.DirEntry, walkErr error) error {
			if walkErr != nil {
				t.Fatal(walkErr)
			}
			rel, _ := filepath.Rel(outer, path)
			switch {
			case e.IsDir() || rel == "x.zip":
				return nil
			case !e.Type().IsRegular():
				t.Errorf("%s is %s", rel, e.Type())
			case filepath.Dir(path) == outer:
				t.Errorf("%s is outside", rel)
			}
			info, _ := e.Info()
			files, size = files+1, size+info.Size()
			return nil
		})
		if files > limits.Files || err == nil && size > limits.Bytes || size > limits.Bytes+1 {
			t.Errorf("%d files, %d bytes, %v", files, size, err)
		}
	})
}
