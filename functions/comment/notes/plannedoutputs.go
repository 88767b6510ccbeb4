package notes

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Foreseen is the note on a plan that uses outputs of other projects of its pull request.
type Foreseen struct {
	// Plans are the projects whose planned outputs the plan uses. Failed are the projects whose plans have
	// failed: for these, the plan uses the outputs in their states.
	Plans, Failed []string
}

// Above returns the plan with the note above it.
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

// Rechecked replaces the note about planned outputs in the text of a plan that was checked later. made are
// the projects whose planned outputs the plan was made with. now are the projects whose planned outputs it
// was checked with. Rechecked replaces only the exact text of the note, so a configuration cannot hide
// anything.
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
