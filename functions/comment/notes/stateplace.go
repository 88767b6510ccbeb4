package notes

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Placed describes how the address of a project's state in a plan differs from the address on the base branch.
type Placed struct {
	Project string
	// From is the address of the project's state on the base branch; "" if there is none. To is the address in
	// the plan; "" if the backend block in the pull request cannot be read.
	From, To string
	// Moves is set if the apply of the plan moves the state from the address From to the address To.
	Moves bool
	// Were are earlier addresses of the state. They are set only if there is no state at To.
	Were []string
	// Owner is another project, which has this state on the base branch, and which the pull request removes. It
	// is "" if the state belongs to this project on the base branch.
	Owner string
	// Former is another project, whose objects are in the state at this address although it no longer uses the
	// address; "" if there is none.
	Former string
	// Ignored are arguments of the backend block that take effect only after the merge. Imposed are arguments
	// that a new state does not take from the block, but from other states of the repository in the same
	// bucket.
	Ignored, Imposed []string
}

// Above returns report with the notes about the address of the state above it.
func (p Placed) Above(report string) string {
	var b strings.Builder
	if p.Moves && p.To != "" {
		fmt.Fprintf(&b, "**This pull request moves the state** of %s from %s to %s. Lockstep does not copy the state. Do not apply this plan if objects exist: it would create them a second time. Copy the state to the new address yourself, then plan again.\n\n", markdown.Code(p.Project), markdown.Code(p.From), markdown.Code(p.To))
	}
	if len(p.Were) > 0 && !p.Moves {
		fmt.Fprintf(&b, "**There is no state** of %s at %s. It was at %s before. Do not apply this plan if the objects exist: it would create them a second time. Copy the state to the new address yourself, then plan again.\n\n", markdown.Code(p.Project), markdown.Code(p.To), markdown.List(p.Were))
	}
	if p.Owner != "" {
		fmt.Fprintf(&b, "%s takes over the state of the project %s, %s: this pull request removes that project.\n\n", markdown.Code(p.Project), markdown.Code(p.Owner), markdown.Code(p.From))
	}
	if p.Former != "" {
		fmt.Fprintf(&b, "**This takes over the objects of the project** %s that are still in the state at %s. After the apply, they belong to %s.\n\n", markdown.Code(p.Former), markdown.Code(p.To), markdown.Code(p.Project))
	}
	if len(p.Ignored) > 0 {
		fmt.Fprintf(&b, "This pull request changes how the state of %s is locked or stored: %s. The change takes effect after the merge. Until then, the settings of the base branch apply.\n\n", markdown.Code(p.Project), markdown.List(p.Ignored))
	}
	if len(p.Imposed) > 0 {
		fmt.Fprintf(&b, "Lockstep ignores %[2]s in the `backend` block of %[1]s: it uses the values of the other states of this repository in that bucket.\n\n", markdown.Code(p.Project), markdown.List(p.Imposed))
	}
	return b.String() + report
}
