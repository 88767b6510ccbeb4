package reasons

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// StepFailed reports that a required step of lockstep.hcl has failed, so that the requested plan or apply was not
// made.
type StepFailed struct {
	Step string // its name
	On   string // "generate" or "before_apply"
	// Why is a phrase. Said is the last line that the program wrote, without secrets; "" if it wrote nothing.
	Why  string
	Said string `json:",omitempty"`
	// Whole says where people find everything that the steps wrote: an address, or a command that
	// fetches it; "" if there is neither.
	Whole string `json:",omitempty"`
	// Again is the command that runs the step once more.
	Again string
}

func (r StepFailed) words() (text, remedy string) {
	text = fmt.Sprintf("The step %s (%s) failed: %s.", markdown.Code(r.Step), r.On, markdown.Code(r.Why))
	if r.Said != "" {
		text += fmt.Sprintf(" Its last line was %s.", markdown.Code(r.Said))
	}
	if r.Whole != "" {
		text += " " + markdown.Whole(r.Whole)
	}
	return text, fmt.Sprintf("Fix what the step reports. Then comment %s, which runs it again.", markdown.Code(r.Again))
}
