package notes

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Foreseen is the note on a plan that reads the outputs of other projects of its pull request.
type Foreseen struct {
	// Plans are the projects whose planned outputs it was made with, Failed those whose plans have failed, so that it
	// was made with the outputs in their states.
	Plans, Failed []string
}

// Above puts the note above the plan.
func (f Foreseen) Above(plan string) string {
	text := plannedWords(f.Plans)
	if len(f.Failed) > 0 {
		text += fmt.Sprintf("**The %s of %s failed**, so this plan uses the outputs of the last apply.\n\n", numberOf(f.Failed, "plan", "plans"), markdown.List(f.Failed))
	}
	return text + plan
}

// plannedWords is the part about planned outputs; "" without plans.
func plannedWords(plans []string) string {
	if len(plans) == 0 {
		return ""
	}
	return fmt.Sprintf("*This plan uses the outputs that %s will have after %s. Lockstep then plans this project again. If the changes are the same, it applies them.*\n\n",
		markdown.List(plans), numberOf(plans, "its apply", "their applies"))
}

// Rechecked puts the plans whose outputs a plan was checked with, now, into a text with the note of those that it was made with. Another text,
// where the words are not exactly these, stays as it is: what a configuration has written hides nothing.
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
