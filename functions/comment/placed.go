package comment

import (
	"fmt"
	"strings"
)

// Placed says where the state of a plan is, where that is not what the base branch says.
type Placed struct {
	Project string
	// From is where the base branch has the state, "" if nowhere; To where the plan has it.
	From, To string
	// Moves says that the two are different places.
	Moves bool
	// Notes are more sentences, in Markdown.
	Notes []string
}

// Above returns a report with what there is to say of the state above it.
func (p Placed) Above(report string) string {
	var b strings.Builder
	if p.Moves {
		fmt.Fprintf(&b, "**This moves the state** of %s from %s to %s. Nothing copies it there: where the new place is empty, the plan makes everything a second time. Copy the state first, where that is not what is wanted.\n\n", Code(p.Project), Code(p.From), Code(p.To))
	}
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "%s\n\n", n)
	}
	return b.String() + report
}
