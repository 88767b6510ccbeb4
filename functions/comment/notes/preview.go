package notes

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Preview is the note on the plan of a fork's commit, which By has named. Failed is set if there is none.
type Preview struct {
	Head, By string
	Failed   bool
}

// Above puts the note above the plan.
func (p Preview) Above(plan string) string {
	made := "*Planned without credentials"
	if p.Failed {
		made = "*This would have been planned without credentials"
	}
	return fmt.Sprintf("%s, from a snapshot of the state, because %s has named the commit %s of a fork. Real objects and other states were not read, providers had no network, and sensitive values were taken out of the snapshot: where only such a value differs, the change may be none. What was merged is planned again.*\n\n%s",
		made, markdown.Code(p.By), markdown.Code(markdown.SHA(p.Head)), plan)
}
