package comment

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// ByTrouble compares two projects for sorting, as in slices.SortFunc. Projects that need more attention come
// first.
func ByTrouble(a, b ProjectStatus) int { return a.ranked().calm() - b.ranked().calm() }

// SameText returns the text that replaces a long text. It says that the project with the given name has the
// same text.
func SameText(project string) string {
	return fmt.Sprintf("The text is the same as for %s, above.\n", markdown.Code(project))
}
