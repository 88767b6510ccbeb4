package comment

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// ByTrouble sorts projects: those that need a person's attention more come first.
func ByTrouble(a, b ProjectStatus) int { return a.ranked().calm() - b.ranked().calm() }

// SameText stands for the text of a project that is equal to the one of a project above.
func SameText(project string) string {
	return fmt.Sprintf("The text is the same as for %s, above.\n", markdown.Code(project))
}
