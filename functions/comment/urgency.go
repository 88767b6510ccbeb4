package comment

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// ByTrouble compares two projects for sorting: projects that need more attention come first.
func ByTrouble(a, b ProjectStatus) int { return a.ranked().calm() - b.ranked().calm() }

// SameText returns the text that replaces a text which an earlier project has, too. The parameter project is
// the name of that earlier project.
func SameText(project string) string {
	return fmt.Sprintf("The text is the same as for %s, above.\n", markdown.Code(project))
}
