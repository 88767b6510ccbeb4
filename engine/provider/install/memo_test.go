package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// settled returns a directory with files that were last changed long enough ago, as
// far as the process can make it so: it waits for the window to pass.
func settled(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"terraform-provider-foo", "LICENSE"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(4 * racyWindow); ; time.Sleep(racyWindow / 30) {
		if _, steady := fingerprint(dir); steady {
			return dir
		}
		if time.Now().After(deadline) {
			t.Fatal("this file system does not tell enough of its files to keep a memo of them")
		}
	}
}

func TestMemo(t *testing.T) {
	t.Parallel()
	dir, cache := settled(t), t.TempDir()
	h1, err := hashDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	m := OpenMemo(cache)
	if got, err := m.hash(dir); err != nil || got != h1 {
		t.Fatal(got, err)
	}
	if err := m.Save(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(cache, "provider-checksums.json")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may write it: %v, %v", info, err)
	}

	// It is the memo that answers the next time: a wrong entry comes back.
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(content), h1, "h1:remembered", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	m = OpenMemo(cache)
	if got, _ := m.hash(dir); got != "h1:remembered" {
		t.Errorf("computed again: %s", got)
	}

	// Any change is noticed, with content, size and time of modification as before, too.
	exchange(t, dir)
	changed, _ := hashDir(dir)
	if got, _ := m.hash(dir); got != changed || got == h1 {
		t.Errorf("got %s for a package that was exchanged", got)
	}
}

// exchange exchanges the program of a package for one of the same size and time of modification.
func exchange(t *testing.T, dir string) {
	t.Helper()
	program := filepath.Join(dir, "terraform-provider-foo")
	info, _ := os.Stat(program)
	if err := os.WriteFile(program, []byte("terraform-provider-evi"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(program, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.Stat(program); after.Size() != info.Size() || !after.ModTime().Equal(info.ModTime()) {
		t.Fatal("the disguise is no good")
	}
}

// TestMemoOfOneRun holds that a memo without a file remembers, notices any change, and is not saved; and that one without a
// directory remembers nothing.
func TestMemoOfOneRun(t *testing.T) {
	t.Parallel()
	dir := settled(t)
	m, none := NewMemo(), OpenMemo("")
	h1, err := m.hash(dir)
	if err != nil || len(m.entries) != 1 {
		t.Fatalf("%s, %v: %d entries", h1, err, len(m.entries))
	}
	for print := range m.entries {
		m.entries[print] = "h1:remembered"
	}
	if got, _ := m.hash(dir); got != "h1:remembered" {
		t.Errorf("computed again: %s", got)
	}
	if err := m.Save(); err != nil {
		t.Error(err)
	}
	if got, err := none.hash(dir); err != nil || got != h1 || len(none.entries) > 0 {
		t.Errorf("%s, %v: %d entries", got, err, len(none.entries))
	}
	exchange(t, dir)
	if got, _ := m.hash(dir); got == "h1:remembered" || got == h1 {
		t.Errorf("got %s for a package that was exchanged", got)
	}
}

func TestMemoOfADirectoryBehindALink(t *testing.T) {
	t.Parallel()
	dir, cache := settled(t), t.TempDir()
	path := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, path); err != nil {
		t.Fatal(err)
	}
	m := OpenMemo(cache)
	h1, err := m.hash(path)
	if err != nil || len(m.entries) != 1 {
		t.Errorf("%s, %v: %d entries", h1, err, len(m.entries))
	}
	// A link within the package leads to what the fingerprint does not cover.
	if err := os.Symlink("/bin/sh", filepath.Join(dir, "sh")); err != nil {
		t.Fatal(err)
	}
	if _, steady := fingerprint(path); steady {
		t.Error("a package with links was trusted")
	}
}

func TestDamagedMemoIsEmpty(t *testing.T) {
	cache := t.TempDir()
	for _, content := range []string{"", "{", "null", "[]", `{"a":1}`, "\x00"} {
		if err := os.WriteFile(filepath.Join(cache, "provider-checksums.json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		m := OpenMemo(cache)
		if len(m.entries) > 0 || m.entries == nil {
			t.Errorf("%q became %v", content, m.entries)
		}
	}
}

func TestMemoThatForgets(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	m := OpenMemo("")
	if h1, err := m.hash(dir); err != nil || !strings.HasPrefix(h1, "h1:") {
		t.Error(h1, err)
	}
	if err := m.Save(); err != nil || len(m.entries) > 0 {
		t.Error(err, m.entries)
	}
	if _, err := m.hash(filepath.Join(dir, "missing")); !os.IsNotExist(err) {
		t.Errorf("got %v", err)
	}
}
