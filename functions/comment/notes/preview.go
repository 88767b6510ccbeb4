package notes

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Preview is the note about the plan of a commit in a fork. By is the login of the user who named the commit
// in a plan command. Failed is set if the plan failed.
type Preview struct {
	Head, By string
	Failed   bool
}

// Above returns plan with this note above it.
func (p Preview) Above(plan string) string {
	made := "*Planned without credentials"
	if p.Failed {
		made = "*Failed to plan without credentials"
	}
	return fmt.Sprintf("%s, from a snapshot of the state, because %s named the commit %s of a fork. Lockstep read no real objects and no other states, gave providers no network, and removed sensitive values from the snapshot. So a change of only such a value may not be real. Lockstep plans again after the merge.*\n\n%s",
		made, markdown.Code(p.By), markdown.Code(markdown.SHA(p.Head)), plan)
}
