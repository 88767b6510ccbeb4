package architecture

import (
	"cmp"
	"flag"
	"slices"
	"strings"
	"testing"
)

var in = flag.String("in", "", "the packages to print, by the beginning of their directory")

// TestMeasures prints the figures of each package, the largest first, with -v.
func TestMeasures(t *testing.T) {
	all := slices.Clone(measures(t))
	slices.SortFunc(all, func(a, b *figures) int { return cmp.Compare(b.lines, a.lines) })
	t.Logf("%-34s %6s %-28s %-22s %-12s %5s %5s %5s", "package", "lines", "largest file", "methods", "file cycle", "//%", "what", "says")
	var total figures
	total.count = map[string]int{}
	for _, f := range all {
		total.lines, total.comments, total.words = total.lines+f.lines, total.comments+f.comments, total.words+f.words
		for _, w := range []string{"what", "says"} {
			total.count[w] += f.count[w]
		}
		if !strings.HasPrefix(f.name, *in) {
			continue
		}
		file, lines := largest(f.files)
		recv, methods := largest(f.methods)
		t.Logf("%-34s %6d %-22s %5d %-18s %3d %4d of %-4d %5.1f %5.1f %5.1f", f.name, f.lines, file, lines, recv, methods,
			len(f.cycle), len(f.files), percent(f.comments, f.lines), f.perThousand("what"), f.perThousand("says"))
		if *in != "" {
			t.Logf("    cycle: %s", strings.Join(f.cycle, " "))
		}
	}
	t.Logf("all: %d lines, comments %.1f %%, what %.1f, says %.1f per 1,000 words", total.lines,
		percent(total.comments, total.lines), total.perThousand("what"), total.perThousand("says"))
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

func (f *figures) perThousand(word string) float64 {
	return 1000 * float64(f.count[word]) / float64(max(f.words, 1))
}
