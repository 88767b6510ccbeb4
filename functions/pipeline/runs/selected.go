package runs

import "github.com/lockstep-iac/lockstep/functions/comment"

// SelectedBy reports whether a command selects the run.
func (r Run) SelectedBy(c comment.Command) bool {
	return c.Selects(r.Project, r.Spec.Dir, r.Workspace) && (!c.Failed || r.failed())
}

// NamedBy reports whether a command names exactly this run. The command must have the project's name, not a
// pattern. If the run is a [Spec.Twin], the command must also have the workspace.
func NamedBy(r Run, c comment.Command) bool {
	return c.Project == r.Project && (c.Workspace == r.Workspace || c.Workspace == "" && !r.Spec.Twin)
}

// failed reports whether somebody must examine the run, because its last plan or apply has failed, or because
// its merged changes are not applied.
func (r Run) failed() bool {
	if r.End.FinishedBy != 0 {
		return false
	}
	left := r.Standing() == comment.PartPlanned || r.Standing() == comment.PartApplied
	return r.Phase.Failed() || r.Waiting() && r.Asked.Late || r.Spec.AfterMerge && left || r.Phase == Dropped && r.End.Fate == Merged && (r.End.Was.Failed() && !KeepsOutcome(r) || r.Standing() == comment.NotApplied || r.Standing() == comment.PartApplied)
}
