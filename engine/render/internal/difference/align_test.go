package difference

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

// pairs writes how two lists of letters are aligned: "a" is in both, "-a" went, "+a"
// came, "a>b" became.
func pairs(before, after string, at [][2]int) string {
	var out []string
	for _, p := range at {
		switch {
		case p[0] < 0:
			out = append(out, "+"+after[p[1]:p[1]+1])
		case p[1] < 0:
			out = append(out, "-"+before[p[0]:p[0]+1])
		case before[p[0]] == after[p[1]]:
			out = append(out, before[p[0]:p[0]+1])
		default:
			out = append(out, before[p[0]:p[0]+1]+">"+after[p[1]:p[1]+1])
		}
	}
	return strings.Join(out, " ")
}

func letters(s string) []int {
	out := make([]int, len(s))
	for i := range s {
		out[i] = int(s[i])
	}
	return out
}

// Capital letters are structured.
func TestAlignElements(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ before, after, want string }{
		{"", "", ""},
		{"", "ab", "+a +b"},
		{"ab", "", "-a -b"},
		{"abc", "abc", "a b c"},
		{"abc", "axc", "a b>x c"},
		{"abcd", "bcde", "-a b c d +e"},
		{"abc", "acd", "a -b c +d"},
		{"abc", "cab", "+c a b -c"},
		{"abc", "abxc", "a b +x c"},
		{"axyb", "aqb", "a -x -y +q b"},
		{"ABC", "ADC", "A B>D C"},
		{"ABC", "BC", "-A B C"},
		{"ABC", "AXYC", "A B>X +Y C"},
		{"AbC", "AxC", "A b>x C"},
		{"ABC", "CAB", "+C A B -C"},
		{"abCD", "bxEF", "a>b b>x C>E D>F"},
	} {
		structured := func(b, a int) bool {
			upper := func(s string, i int) bool { return s[i] < 'a' }
			return upper(x.before, b) && upper(x.after, a)
		}
		if got := pairs(x.before, x.after, alignElements(letters(x.before), letters(x.after), structured)); got != x.want {
			t.Errorf("%q to %q: got %q, want %q", x.before, x.after, got, x.want)
		}
	}
}

// Whatever is aligned, both lists can be read off it in order.
func TestAlignKeepsBothLists(t *testing.T) {
	t.Parallel()
	for seed := range int64(500) {
		r := rand.New(rand.NewSource(seed))
		list := func() []int {
			out := make([]int, r.Intn(12))
			for i := range out {
				out[i] = r.Intn(5)
			}
			return out
		}
		before, after := list(), list()
		for name, at := range map[string][][2]int{
			"lines":    align(before, after, func(int, int) bool { return false }),
			"elements": alignElements(before, after, func(b, a int) bool { return before[b] > 2 && after[a] > 2 }),
		} {
			var b, a []int
			for _, p := range at {
				if p[0] >= 0 {
					b = append(b, before[p[0]])
				}
				if p[1] >= 0 {
					a = append(a, after[p[1]])
				}
			}
			if fmt.Sprint(b) != fmt.Sprint(before) || fmt.Sprint(a) != fmt.Sprint(after) {
				t.Fatalf("seed %d, %s: %v and %v come out of %v and %v", seed, name, b, a, before, after)
			}
		}
	}
}

func TestLongListsAreComparedInLinearSpace(t *testing.T) {
	t.Parallel()
	before, after := make([]int, 20_000), make([]int, 20_000)
	for i := range before {
		before[i], after[i] = i, 40_000-i
	}
	if got := len(alignElements(before, after, func(int, int) bool { return false })); got < len(before) {
		t.Errorf("%d pairs of %d elements", got, len(before))
	}
}
