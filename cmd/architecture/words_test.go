package architecture

import "testing"

// wordLimits are how often a word may stand per 1,000 words of comments, in the whole project and
// in one package. Both words are signs of relative clauses ("what it refers to", "what a file
// says") where the field has a noun ("its references", "a file's content").
var wordLimits = []struct {
	word           string
	overall, inOne float64
	free           int // so many are allowed in a package of any size
}{
	{"what", 4, 8, 2},
	{"says", 1, 3, 1},
}

// wordDebts are the packages that are still beyond a limit, with how often the word stands there.
// A debt that was paid fails the test until it is removed: the table only shrinks.
var wordDebts = map[string]map[string]int{
	"what": {},
	"says": {},
}

// TestWords holds the limits of words.
func TestWords(t *testing.T) {
	for _, limit := range wordLimits {
		total := figures{count: map[string]int{}}
		seen := map[string]bool{}
		for _, f := range measures(t) {
			seen[f.name] = true
			is, owed := f.count[limit.word], wordDebts[limit.word][f.name]
			total.count[limit.word] += is
			total.words += f.words
			within := is <= limit.free || f.perThousand(limit.word) <= limit.inOne
			switch {
			case owed == 0 && !within:
				t.Errorf("%s: %q stands %d times in comments, %.1f per 1,000 words; the limit is %.0f", f.name, limit.word, is, f.perThousand(limit.word), limit.inOne)
			case is > owed && !within:
				t.Errorf("%s: %q stands %d times in comments, more than the debt of %d", f.name, limit.word, is, owed)
			case owed > 0 && within:
				t.Errorf("%s: %q is within its limit in comments: remove the debt", f.name, limit.word)
			}
		}
		if is := total.perThousand(limit.word); is > limit.overall {
			t.Errorf("all comments: %q stands %.2f times per 1,000 words, the limit is %.0f", limit.word, is, limit.overall)
		}
		for name := range wordDebts[limit.word] {
			if !seen[name] {
				t.Errorf("wordDebts names %s, which is no package", name)
			}
		}
	}
}
