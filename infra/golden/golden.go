// Package golden compares results of tests with files that a reviewer reads.
//
// It declares the option -update of the tests that import it, which writes the files anew; the
// difference then stands in the commit. It refuses to know the contents of a file: tests with a notation
// of their own write their files by [Update]. It
// belongs to none of the islands, whose tests all use it; no program may import it. Start at [File].
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew: read the difference")

// Updating reports whether the option -update is set. Tests may not call it before their flags are
// parsed, that is from a variable's initialization.
func Updating() bool { return *update }

// File compares got with the golden file, whose name is relative to the package, after it has written
// it if -update is set.
func File(t testing.TB, name, got string) {
	t.Helper()
	Update(t, name, got)
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v; -update writes it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got, -update writes it anew):\n%s", name, diff)
	}
}

// Update writes the golden file, and makes its directory, if -update is set.
func Update(t testing.TB, name, text string) {
	t.Helper()
	if !*update {
		return
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
