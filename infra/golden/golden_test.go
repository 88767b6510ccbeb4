package golden_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/infra/golden"
)

// A recorder keeps the failures of a test within a test.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(r)
}

// file returns the failures of golden.File.
func file(t *testing.T, name, got string) string {
	t.Helper()
	r := &recorder{TB: t}
	func() {
		defer func() {
			if x := recover(); x != nil && x != any(r) {
				panic(x)
			}
		}()
		golden.File(r, name, got)
	}()
	return strings.Join(r.failures, "\n")
}

// TestFile holds that a difference and a file that is not there fail a test, that each failure names
// the option, and that only the option writes.
func TestFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "testdata", "a.txt")
	if got := file(t, name, "one\n"); !strings.Contains(got, "-update writes it") {
		t.Errorf("without a file: %q", got)
	}
	if _, err := os.Stat(name); !os.IsNotExist(err) {
		t.Errorf("it was written unasked: %v", err)
	}
	if err := flag.Set("update", "true"); err != nil {
		t.Fatal(err)
	}
	if got := file(t, name, "one\n"); got != "" || !golden.Updating() {
		t.Errorf("with -update: %q", got)
	}
	if err := flag.Set("update", "false"); err != nil {
		t.Fatal(err)
	}
	if got := file(t, name, "one\n"); got != "" {
		t.Errorf("the same: %q", got)
	}
	if got := file(t, name, "two\n"); !strings.Contains(got, "-update writes it anew") || !strings.Contains(got, "two") {
		t.Errorf("another text: %q", got)
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != "one\n" {
		t.Errorf("the file holds %q, %v", text, err)
	}
}
