//go:build linux

package gatefacts

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// unpacker is a GitHub with one commit, which has a file, a link and a file in a directory.
type unpacker struct {
	Hub
	times int
}

func (h *unpacker) Checkout(_ context.Context, _, dir string) (github.Unpacked, error) {
	h.times++
	for name, text := range map[string]string{"main.tf": "one", "app/main.tf": "two"} {
		os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return github.Unpacked{}, err
		}
	}
	return github.Unpacked{Files: 3}, os.Symlink("main.tf", filepath.Join(dir, "link.tf"))
}

// TestCheckouts uses a checkout for several messages, and carries out attacks: the program of a run writes into the checkout, so
// that the next plan has other files. It holds that a checkout that was touched is not used again.
func TestCheckouts(t *testing.T) {
	stamp := time.Unix(1_000_000_000, 0)
	for name, touch := range map[string]func(dir string) error{
		"":              func(string) error { return nil },
		"reading":       func(dir string) error { _, err := os.ReadFile(filepath.Join(dir, "app/main.tf")); return err },
		"another text":  func(dir string) error { return os.WriteFile(filepath.Join(dir, "main.tf"), []byte("three"), 0o644) },
		"the same size": func(dir string) error { return os.WriteFile(filepath.Join(dir, "main.tf"), []byte("eno"), 0o644) },
		"an old time": func(dir string) error {
			path := filepath.Join(dir, "app/main.tf")
			was, err := os.Stat(path)
			if err != nil {
				return err
			}
			if err := os.WriteFile(path, []byte("owt"), 0o644); err != nil {
				return err
			}
			return os.Chtimes(path, was.ModTime(), was.ModTime())
		},
		"another file": func(dir string) error { return os.WriteFile(filepath.Join(dir, "app/more.tf"), nil, 0o644) },
		"a hidden file, removed": func(dir string) error {
			path := filepath.Join(dir, "app", ".x")
			if err := os.WriteFile(path, nil, 0o644); err != nil {
				return err
			}
			return os.Remove(path)
		},
		"no file": func(dir string) error { return os.Remove(filepath.Join(dir, "main.tf")) },
		"a hard link": func(dir string) error {
			return os.Link(filepath.Join(dir, "main.tf"), filepath.Join(filepath.Dir(dir), "kept"))
		},
		"another link": func(dir string) error {
			os.Remove(filepath.Join(dir, "link.tf"))
			return os.Symlink("app/main.tf", filepath.Join(dir, "link.tf"))
		},
		"another mode": func(dir string) error { return os.Chmod(filepath.Join(dir, "main.tf"), 0o755) },
		"times":        func(dir string) error { return os.Chtimes(filepath.Join(dir, "app"), stamp, stamp) },
		"two files exchanged": func(dir string) error {
			a, b, x := filepath.Join(dir, "main.tf"), filepath.Join(dir, "app/main.tf"), filepath.Join(dir, "x")
			for _, m := range [][2]string{{a, x}, {b, a}, {x, b}} {
				if err := os.Rename(m[0], m[1]); err != nil {
					return err
				}
			}
			return nil
		},
		"no directory": os.RemoveAll,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hub, kept := &unpacker{}, new(Checkouts)
			checkout := func(sha string, installation int64) (string, func()) {
				e := &Reader{Hub: hub, Checkouts: kept, Scratch: t.TempDir(), Message: pipeline.Message{Pull: pipeline.Pull{Installation: installation, Repo: github.Repo{ID: 7}}}}
				dir, done, err := e.Checkout(t.Context(), sha)
				if err != nil {
					t.Fatal(err)
				}
				if text, err := os.ReadFile(filepath.Join(dir, "app/main.tf")); err != nil || string(text) != "two" {
					t.Fatalf("the checkout has %q: %v", text, err)
				}
				if text, err := os.ReadFile(filepath.Join(dir, "link.tf")); err != nil || string(text) != "one" {
					t.Fatalf("the link of the checkout has %q: %v", text, err)
				}
				return dir, done
			}
			dir, done := checkout("a", 1)
			if err := touch(dir); err != nil {
				t.Fatal(err)
			}
			done()
			done()
			again, done := checkout("a", 1)
			if want := map[bool]int{true: 1, false: 2}[name == "" || name == "reading"]; hub.times != want || (again == dir) != (want == 1) {
				t.Errorf("it is unpacked %d times, want %d", hub.times, want)
			}
			_, second := checkout("a", 1) // while the first one is in use
			second()
			done()
			was := hub.times
			_, third := checkout("a", 2)
			third()
			if hub.times != was+1 {
				t.Error("another installation gets it")
			}
			for _, sha := range []string{"b", "c"} {
				_, done := checkout(sha, 1)
				done()
			}
			if len(kept.kept) != maxCheckouts {
				t.Errorf("%d are kept", len(kept.kept))
			}
			if _, err := os.Stat(again); err == nil {
				t.Error("one that is not kept any more is on the disk")
			}
		})
	}
}
