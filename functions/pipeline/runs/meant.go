package runs

import "github.com/lockstep-iac/lockstep/functions/comment"

// Meant reports whether a command is for the run.
func (r Run) Meant(c comment.Command) bool {
	return c.Selects(r.Project, r.Dir, r.Workspace) && (!c.Failed || r.Phase.Failed())
}
