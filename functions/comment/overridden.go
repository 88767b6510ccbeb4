package comment

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Overridden reports that somebody has lifted requirements for the plan of a project.
type Overridden struct {
	Project, By, Because string
	// Workspace is that of the project where another one of the pull request has its name, "" elsewhere.
	Workspace string `json:",omitempty"`
}

func (o Overridden) markdown() string {
	p := ProjectStatus{Name: o.Project, Workspace: o.Workspace}
	return fmt.Sprintf("**Overridden** for the plan of %s, by %s: %s. Comment %s to apply it. It holds for this plan only, and while nobody edits the comment.",
		markdown.Code(p.Label()), markdown.Code(o.By), markdown.Code(o.Because), p.command(Apply))
}
