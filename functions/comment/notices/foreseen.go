package notices

import (
	"fmt"

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
	text := ""
	if len(f.Plans) > 0 {
		text = fmt.Sprintf("*Planned with the outputs that the %s of %s will have. It is made again once %s applied: if its changes are the same then, they are applied without another word.*\n\n",
			number(f.Plans, "plan", "plans"), markdown.List(f.Plans), number(f.Plans, "that is", "those are"))
	}
	if len(f.Failed) > 0 {
		text += fmt.Sprintf("**The %s of %s failed**, so this was planned with the outputs that are stored.\n\n", number(f.Failed, "plan", "plans"), markdown.List(f.Failed))
	}
	return text + plan
}

func number(all []string, one, more string) string {
	if len(all) == 1 {
		return one
	}
	return more
}
