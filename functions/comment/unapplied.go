package comment

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Unapplied is the reply that a merge did not apply some plans, because only comments apply them. Projects are
// the projects of which nothing is applied. Partly are those that are applied in part.
type Unapplied struct {
	Projects, Partly []string `json:",omitempty"`
}

func (u Unapplied) markdown() string {
	var parts []string
	if len(u.Projects) > 0 {
		parts = append(parts, "**Merged, not applied**: "+headed(u.Projects)+".")
	}
	if len(u.Partly) > 0 {
		parts = append(parts, "**Merged, partly applied**: "+headed(u.Partly)+".")
	}
	it := "it"
	if len(u.Projects)+len(u.Partly) > 1 {
		it = "them"
	}
	return strings.Join(parts, " ") + fmt.Sprintf(" The merge does not apply %s. Comment %s for a new plan of what was merged. Read it, then comment %s.", it, markdown.Code("lockstep retry"), markdown.Code("lockstep apply"))
}
