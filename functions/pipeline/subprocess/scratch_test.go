//go:build linux

package subprocess

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestScratch holds that what a process has left that was killed is gone when the next one
// begins, and that what a living one has is not touched. It does not run beside tests that
// start processes: until such a one has begun its program, it has our locks, too.
func TestScratch(t *testing.T) {
	dir, err := os.MkdirTemp("", "s-*")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	at := filepath.Join(dir, "runs")
	living, err := OpenScratch(at)
	if err != nil {
		t.Fatal(err)
	}
	killed, err := OpenScratch(at)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Scratch{living, killed} {
		closed := filepath.Join(s.Dir, "checkout", "closed")
		if err := os.MkdirAll(closed, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(closed, "secret"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(closed, 0); err != nil {
			t.Fatal(err)
		}
	}
	killed.lock.Close() // as the kernel does
	if info, err := os.Stat(killed.Dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	next, err := OpenScratch(at)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(killed.Dir); err == nil {
		t.Error("what a killed process had is there")
	}
	if _, err := os.Stat(filepath.Join(living.Dir, "checkout")); err != nil {
		t.Errorf("what a living process has is gone: %v", err)
	}
	if err := living.Empty(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(living.Dir); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	for _, s := range []*Scratch{living, next} {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestScratchOfOthers holds that a directory which somebody else has made in our place is not
// used, and that paths which are too long for sockets are not either.
func TestScratchOfOthers(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "s-*")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	link := filepath.Join(dir, "runs")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenScratch(link); err == nil || !strings.Contains(err.Error(), "not a directory of ours") {
		t.Errorf("a link: %v", err)
	}
	s, err := OpenScratch(filepath.Join(dir, strings.Repeat("long", 30)))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if len(s.Dir) > longestScratch+12 {
		t.Errorf("%s is too long", s.Dir)
	}
}
