package notes

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Foreseen is the note about a plan that uses outputs of other projects in the same pull request.
type Foreseen struct {
	// Plans are the projects whose planned outputs the plan uses. Failed are projects whose own plans failed:
	// the plan uses the outputs in their states.
	Plans, Failed []string
}

// Above returns plan with this note above it.
func (f Foreseen) Above(plan string) string {
	text := plannedWords(f.Plans)
	if len(f.Failed) > 0 {
		text += fmt.Sprintf("**The %s of %s failed**, so this plan uses the outputs of the last apply.\n\n", numberOf(f.Failed, "plan", "plans"), markdown.List(f.Failed))
	}
	return text + plan
}

// plannedWords returns the part of the note about planned outputs; "" if there are none.
func plannedWords(plans []string) string {
	if len(plans) == 0 {
		return ""
	}
	return fmt.Sprintf("*This plan uses the outputs that %s will have after %s. Lockstep then plans this project again. If the changes are the same, it applies them.*\n\n",
		markdown.List(plans), numberOf(plans, "its apply", "their applies"))
}

// Rechecked updates the note about planned outputs in the text of a plan, after Lockstep has checked the plan
// once more. The plan was made with the planned outputs of the projects in made, and checked with those of the
// projects in now. Only the exact text of the note is replaced. So a configuration cannot use Rechecked to hide
// something.
func Rechecked(text string, made, now []string) string {
	if len(made) == 0 {
		return text
	}
	return strings.Replace(text, plannedWords(made), plannedWords(now), 1)
}

func numberOf(all []string, one, more string) string {
	if len(all) == 1 {
		return one
	}
	return more
}
