package architecture

import (
	"testing"
)

// The limits of a room. A package is its files without tests and generated ones.
const (
	maxPackage = 3000 // lines of a package
	maxFile    = 500  // lines of a file
	maxMethods = 40   // methods of a receiver
	freeCycle  = 4    // files of a package that may call each other in a circle, whatever their share
)

// A debt is a package that is still beyond a limit, and how far. A debt that was paid, or got
// smaller, fails the test until the table says so: it only shrinks.
type debt struct{ lines, file, methods, cycle int }

var debts = map[string]debt{}

// TestLimits holds the limits: a package is read in a sitting, a receiver is not the whole
// package, and its files are rooms: fewer than half of them call each other in a circle.
func TestLimits(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range measures(t) {
		seen[f.name] = true
		owed := debts[f.name]
		file, lines := largest(f.files)
		recv, methods := largest(f.methods)
		f.hold(t, "lines in the package", f.lines, maxPackage, owed.lines)
		f.hold(t, "lines in "+file, lines, maxFile, owed.file)
		f.hold(t, "methods of "+recv, methods, maxMethods, owed.methods)
		f.hold(t, "files in a call cycle", len(f.cycle), max(freeCycle, (len(f.files)-1)/2), owed.cycle)
	}
	for name := range debts {
		if !seen[name] {
			t.Errorf("debts names %s, which is no package", name)
		}
	}
	if len(seen) < 20 {
		t.Fatalf("only %d packages were measured", len(seen))
	}
}

func (f *figures) hold(t *testing.T, of string, is, limit, owed int) {
	switch {
	case owed == 0 && is > limit:
		t.Errorf("%s: %d %s, the limit is %d", f.name, is, of, limit)
	case owed > 0 && is > owed:
		t.Errorf("%s: %d %s, more than the debt of %d; the limit is %d", f.name, is, of, owed, limit)
	case owed > 0 && is <= limit:
		t.Errorf("%s: %d %s: the debt is paid, remove it from debts", f.name, is, of)
	case owed > 0 && is < owed-owed/10:
		t.Errorf("%s: %d %s, enter it as the debt in place of %d", f.name, is, of, owed)
	}
}
