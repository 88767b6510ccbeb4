package diags

import (
	"fmt"
	"iter"
	"unicode/utf8"

	"github.com/agext/levenshtein"
)

// Suggest returns ` Did you mean "x"?` with the most similar of names, or "" if none is similar.
func Suggest(name string, names iter.Seq[string]) string {
	best, least := "", 3 // as far off as HCL's own suggestions
	length := utf8.RuneCountInString(name)
	for d := range names {
		if diff := utf8.RuneCountInString(d) - length; diff > least || -diff > least {
			continue // it is at least as far off
		}
		if n := levenshtein.Distance(name, d, nil); n < least || n == least && best != "" && d < best {
			best, least = d, n
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" Did you mean %q?", best)
}
