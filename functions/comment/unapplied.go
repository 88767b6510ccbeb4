package comment

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Unapplied reports that a merge leaves plans that a comment was to apply: of Projects nothing is applied, of Partly not all.
type Unapplied struct {
	Projects, Partly []string `json:",omitempty"`
}

func (u Unapplied) markdown() string {
	var parts []string
	if len(u.Projects) > 0 {
		parts = append(parts, "**Merged, but not applied**: "+headed(u.Projects)+".")
	}
	if len(u.Partly) > 0 {
		parts = append(parts, "**Merged, and not all of it applied**: "+headed(u.Partly)+".")
	}
	it := "it"
	if len(u.Projects)+len(u.Partly) > 1 {
		it = "them"
	}
	return strings.Join(parts, " ") + fmt.Sprintf(" The merge does not apply %s. Comment %s for a plan of the base branch, look at it, and comment %s.", it, markdown.Code("lockstep retry"), markdown.Code("lockstep apply"))
}
