package github

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// archiveOf makes a tarball of lines: "file NAME CONTENT", "exec NAME CONTENT",
// "dir NAME", "link NAME TARGET", "hard NAME TARGET", "fifo NAME", "commit SHA".
func archiveOf(t *testing.T, lines ...string) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	tw := tar.NewWriter(zw)
	for _, line := range lines {
		w := append(strings.SplitN(line, " ", 3), "", "")
		h := &tar.Header{Name: w[1], Mode: 0o664}
		switch w[0] {
		case "file", "exec":
			h.Typeflag, h.Size = tar.TypeReg, int64(len(w[2]))
			if w[0] == "exec" {
				h.Mode = 0o775
			}
		case "dir":
			h.Typeflag = tar.TypeDir
		case "link":
			h.Typeflag, h.Linkname = tar.TypeSymlink, w[2]
		case "hard":
			h.Typeflag, h.Linkname = tar.TypeLink, w[2]
		case "fifo":
			h.Typeflag = tar.TypeFifo
		case "commit":
			h = &tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header", PAXRecords: map[string]string{"comment": w[1]}}
		}
		if err := tw.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			tw.Write([]byte(w[2]))
		}
	}
	tw.Close()
	zw.Close()
	return &b
}

// filesBelow lists what is below a directory, links with their targets.
func filesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		name, _ := filepath.Rel(dir, p)
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(p)
			name += " -> " + target
		case d.IsDir():
			name += "/"
		default:
			b, _ := os.ReadFile(p)
			name += " " + string(b)
		}
		out = append(out, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

const someSHA = "1234567890123456789012345678901234567890"

func TestUnpack(t *testing.T) {
	dir := t.TempDir()
	u, err := unpack(archiveOf(t,
		"commit "+someSHA, "dir r-1234567/", "file r-1234567/main.tf hello", "dir r-1234567/net/",
		"file r-1234567/net/a.tf x", "exec r-1234567/bin/run y", "link r-1234567/net/b.tf ../main.tf", "link r-1234567/mods net",
		"file r-1234567/..data/...x z",
	), dir, someSHA, checkoutLimits)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"..data/", "..data/...x z", "bin/", "bin/run y", "main.tf hello", "mods -> net", "net/", "net/a.tf x", "net/b.tf -> ../main.tf"}
	if diff := cmp.Diff(want, filesBelow(t, dir)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Unpacked{Files: 4, Bytes: 8}, u); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(filepath.Join(dir, "bin/run")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("bin/run is not executable: %v", info.Mode())
	}
}

// TestNothingGetsOut tries what archives are known to try. Whatever the outcome,
// the directory next to the target stays as it was, and no link leads there.
func TestNothingGetsOut(t *testing.T) {
	tests := []struct {
		name    string
		lines   []string
		fails   string
		leftOut []string
	}{
		{"climbing", []string{"file r/../../evil x"}, `name "r/../../evil"`, nil},
		{"climbing back in", []string{"file r/a/../b x"}, `name "r/a/../b"`, nil},
		{"climbing at once", []string{"file ../evil x"}, "", nil}, // the first element does not matter
		{"absolute", []string{"file /etc/evil x"}, `name "/etc/evil"`, nil},
		{"absolute below", []string{"file r//etc/evil x"}, `name "r//etc/evil"`, nil},
		{"no name", []string{"file r x"}, `name "r"`, nil},
		{"the directory itself", []string{"file r/. x"}, `name "r/."`, nil},
		{"link to an absolute path", []string{"link r/a /etc"}, "", []string{"a"}},
		{"link out", []string{"link r/a ../victim"}, "", []string{"a"}},
		{"link to nowhere", []string{"link r/a b"}, "", []string{"a"}},
		{"link to no name", []string{"link r/a "}, "", []string{"a"}},
		{"link to a name that no file system takes", []string{"link r/a " + strings.Repeat("b/", 3000)}, "", []string{"a"}},
		{"link to itself", []string{"link r/a a"}, "", []string{"a"}},
		{"writing through a link", []string{"link r/a ../victim", "file r/a/evil x"}, "file exists", nil},
		{"link out by way of another", []string{"dir r/d/", "link r/d/up ..", "link r/out d/up/../victim"}, "", []string{"out"}},
		{"link to a link that is taken back", []string{"link r/b a", "link r/a ../victim"}, "", []string{"b", "a"}},
		{"writing through a link, in another order", []string{"file r/a/evil x", "link r/a ../victim"}, "file exists", nil},
		{"hard link", []string{"hard r/a ../victim/secret"}, "neither a file nor", nil},
		{"fifo", []string{"fifo r/a"}, "neither a file nor", nil},
		{"twice", []string{"file r/a x", "file r/a y"}, "file exists", nil},
		{"another commit", []string{"commit " + strings.Repeat("0", 40), "file r/a x"}, "the commit 0000000 instead of 1234567", nil},
		{"empty", nil, "the archive is empty", nil},
		{"long name", []string{"file r/" + strings.Repeat("a", 3000) + " x"}, "too long", nil},
		{"a name that no file system takes", []string{"file r/" + strings.Repeat("a", 300) + " x"}, "too long", nil},
		{"deep name", []string{"file r/" + strings.Repeat("a/", 200) + "b x"}, "too long", nil},
	}
	// What could be another archive the next time is not final.
	final := []string{`name "r/../../evil"`, `name "r/a/../b"`, `name "/etc/evil"`, `name "r//etc/evil"`, `name "r"`, `name "r/."`, "neither a file nor", "too long"}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			parent := t.TempDir()
			dir, victim := filepath.Join(parent, "checkout"), filepath.Join(parent, "victim")
			for _, d := range []string{dir, victim} {
				if err := os.Mkdir(d, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(victim, "secret"), []byte("s"), 0o600); err != nil {
				t.Fatal(err)
			}
			u, err := unpack(archiveOf(t, test.lines...), dir, someSHA, checkoutLimits)
			if stays := errors.As(err, new(*FinalError)); stays != slices.Contains(final, test.fails) {
				t.Errorf("another try is of no use: %v (%v)", stays, err)
			}
			switch {
			case test.fails == "" && err != nil, test.fails != "" && (err == nil || !strings.Contains(err.Error(), test.fails)):
				t.Errorf("error: %v, want %q", err, test.fails)
			}
			if diff := cmp.Diff(test.leftOut, u.LeftOut); err == nil && diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]string{"secret s"}, filesBelow(t, victim)); diff != "" {
				t.Errorf("the neighbour changed: %s", diff)
			}
			if entries, _ := os.ReadDir(parent); len(entries) != 2 {
				t.Errorf("beside the target there is now %v", entries)
			}
			for _, name := range filesBelow(t, dir) {
				link, _, isLink := strings.Cut(name, " -> ")
				if !isLink || err != nil {
					continue
				}
				to, e := filepath.EvalSymlinks(filepath.Join(dir, link))
				if real, _ := filepath.EvalSymlinks(dir); e != nil || !strings.HasPrefix(to, real) {
					t.Errorf("%s leads to %s (%v)", name, to, e)
				}
			}
		})
	}
}

func TestUnpackLimits(t *testing.T) {
	lines := []string{"dir r/", "file r/a 12345", "file r/b 12345", "link r/c a"}
	for _, test := range []struct {
		limits archiveLimits
		fails  string
	}{
		{archiveLimits{Entries: 4, Bytes: 10}, ""},
		{archiveLimits{Entries: 3, Bytes: 10}, "more than 3 entries"},
		{archiveLimits{Entries: 4, Bytes: 9}, "more than 9 bytes"},
	} {
		_, err := unpack(archiveOf(t, lines...), t.TempDir(), "", test.limits)
		if (err == nil) != (test.fails == "") || err != nil && (!strings.Contains(err.Error(), test.fails) || !errors.As(err, new(*FinalError))) {
			t.Errorf("%+v: %v", test.limits, err)
		}
	}
	if _, err := unpack(bytes.NewReader([]byte("no archive")), t.TempDir(), "", checkoutLimits); err == nil {
		t.Error("something that is no archive was unpacked")
	}
	whole := archiveOf(t, lines...).Bytes()
	if _, err := unpack(bytes.NewReader(whole[:len(whole)/2]), t.TempDir(), "", checkoutLimits); err == nil || errors.As(err, new(*FinalError)) {
		t.Error("half an archive was unpacked")
	}
}
