package refs

import (
	"fmt"
	"maps"
	"slices"

	"github.com/agext/levenshtein"
)

// suggest returns ` Did you mean "x"?` for the declared name nearest to name, or "".
func suggest[V any](name string, declared map[string]V) string {
	best, least := "", 3 // as far off as HCL's own suggestions
	for _, d := range slices.Sorted(maps.Keys(declared)) {
		if n := levenshtein.Distance(name, d, nil); n < least {
			best, least = d, n
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" Did you mean %q?", best)
}
