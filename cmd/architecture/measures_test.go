package architecture

import (
	"cmp"
	"flag"
	"slices"
	"strings"
	"testing"
)

var in = flag.String("in", "", "the packages to print, by the beginning of their directory")

// TestMeasures prints the size of each package with -v, the largest first. It fails for no size:
// `make sizes` is a report that a person reads.
func TestMeasures(t *testing.T) {
	all := slices.Clone(measures(t))
	slices.SortFunc(all, func(a, b *figures) int { return cmp.Compare(b.lines, a.lines) })
	t.Logf("%-34s %6s %-28s %-22s %-12s %5s", "package", "lines", "largest file", "methods", "file cycle", "//%")
	var total figures
	for _, f := range all {
		total.lines, total.comments = total.lines+f.lines, total.comments+f.comments
		if !strings.HasPrefix(f.name, *in) {
			continue
		}
		file, lines := largest(f.files)
		recv, methods := largest(f.methods)
		t.Logf("%-34s %6d %-22s %5d %-18s %3d %4d of %-4d %5.1f", f.name, f.lines, file, lines, recv, methods,
			len(f.cycle), len(f.files), percent(f.comments, f.lines))
		if *in != "" {
			t.Logf("    cycle: %s", strings.Join(f.cycle, " "))
		}
	}
	t.Logf("all: %d lines, comments %.1f %%", total.lines, percent(total.comments, total.lines))
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }
