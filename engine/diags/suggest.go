package diags

import (
	"fmt"
	"iter"
	"unicode/utf8"

	"github.com/agext/levenshtein"
)

// Suggest returns ` Did you mean "x"?` with the most similar of the given names, or "" if none is similar.
func Suggest(name string, names iter.Seq[string]) string {
	best, least := "", 3 // the distance up to which HCL suggests a name, too
	length := utf8.RuneCountInString(name)
	for d := range names {
		if diff := utf8.RuneCountInString(d) - length; diff > least || -diff > least {
			continue // its distance is larger than least
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
