package comment

import (
	"fmt"
	"strings"
)

// Placed describes the address of a plan's state, where it differs from the one on the base branch.
type Placed struct {
	Project string
	// From is the address of the state on the base branch, "" if there is none; To the address in
	// the plan.
	From, To string
	// Moves is set if the two differ.
	Moves bool
	// Notes are more sentences, in Markdown.
	Notes []string
}

// Above returns a report with the remarks about the state above it.
func (p Placed) Above(report string) string {
	var b strings.Builder
	if p.Moves {
		fmt.Fprintf(&b, "**This moves the state** of %s from %s to %s. Lockstep does not copy it: if there is no state at the new address, the plan creates everything a second time. To avoid that, copy the state first.\n\n", Code(p.Project), Code(p.From), Code(p.To))
	}
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "%s\n\n", n)
	}
	return b.String() + report
}
