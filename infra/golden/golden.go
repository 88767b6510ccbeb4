// Package golden compares results of tests with files that a reviewer reads, called golden files.
//
// It declares the option -update of the tests that import it. The option writes the files anew, and the
// commit then shows the difference. The package does not know the contents of a file: tests with a notation
// of their own write their files with [Update]. Tests everywhere in this repository use it; no program may
// import it. Start at [File].
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew: read the difference")

// Updating reports whether the option -update is set. Tests must not call it before their flags are parsed,
// for example in the initialization of a variable.
func Updating() bool { return *update }

// File compares got with the golden file. If -update is set, it writes the file first. The name is relative
// to the package's directory.
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

// Update writes the golden file, and creates its directory, if -update is set. Otherwise it does nothing.
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
