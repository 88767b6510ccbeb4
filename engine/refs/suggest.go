package refs

import (
	"fmt"
	"unicode/utf8"

	"github.com/agext/levenshtein"
)

// suggest returns ` Did you mean "x"?` for the declared name nearest to name, or "".
func suggest[V any](name string, declared map[string]V) string {
	best, least := "", 3 // as far off as HCL's own suggestions
	length := utf8.RuneCountInString(name)
	for d := range declared {
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
