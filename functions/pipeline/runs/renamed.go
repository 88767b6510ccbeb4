package runs

import "github.com/lockstep-iac/lockstep/functions/project"

// RenamedByBase returns the run of a project that the base branch has renamed. A waiting plan becomes out of
// date; a failed or applied run keeps its phase. ok is false if the run stays as it is: its apply is queued or
// in progress, its pull request removes the project itself, or the name is recorded already.
func RenamedByBase(r Run, name string) (renamed Run, ok bool) {
	moving := r.Phase == New || r.Phase == Queued || r.Phase == Planning || r.Phase.UnderWay()
	if r.Spec.Removed || moving || r.End.Renamed == name && r.End.Fate != Gone {
		return r, false
	}
	if r.Phase == Planned {
		r = r.To(Stale)
	}
	if r.End.Renamed = name; r.End.Fate == Gone {
		r.End.Fate = ""
	}
	return r, true
}

// SupersededByRename returns the run of a renamed project once the project is planned at the head under its new
// name. ok is false if the run stays as it is: its apply is queued or in progress, or it has applied
// everything.
func SupersededByRename(r Run) (over Run, ok bool) {
	if r.End.Renamed == "" || r.Phase == Superseded || !r.Phase.May(Superseded) || r.Phase == Dropped && r.End.Was == Applied && Complete(r) {
		return r, false
	}
	return r.To(Superseded), true
}

// IsFormerNameOf reports whether a run belongs to project p under a former name, or in a former workspace.
func IsFormerNameOf(r Run, p project.Project) bool {
	rehoused := r.End.Renamed == r.Project // only its workspace has changed
	return r.End.Renamed != "" && r.End.Renamed == p.Name && (r.Workspace == p.Workspace) != rehoused
}

// CountedAtHead reports whether the last look at a head has counted the project of a run under the run's name.
// That includes a project that the base branch has removed since. It does not include a project that is planned
// under a new name.
func CountedAtHead(r Run, head string) bool {
	return r.Spec.Head == head && !r.Spec.Beside && (r.Phase != Superseded || r.End.Fate == Gone)
}
