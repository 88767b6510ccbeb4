package comment

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Overridden reports that somebody has lifted requirements for the plan of a project.
type Overridden struct{ Project, By, Because string }

func (o Overridden) markdown() string {
	return fmt.Sprintf("**Overridden** for the plan of %s, by %s: %s. Comment %s to apply it. It holds for this plan only, and while nobody edits the comment.",
		markdown.Code(o.Project), markdown.Code(o.By), markdown.Code(o.Because), markdown.Code("lockstep apply -p "+o.Project))
}
