package runs

import "github.com/lockstep-iac/lockstep/functions/project"

// RenamedByBase returns a run whose project has another name on the base branch by now: a plan is out of date, and what has failed, or
// is applied, stays that. ok is false if the run stays as it is: it is under way, its pull request removes the project itself, or the
// name is known.
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

// Succeeded returns a run whose project is planned at its head under another name. ok is false if it stays as it is: it is under
// way, or what it has applied stays.
func Succeeded(r Run) (over Run, ok bool) {
	if r.End.Renamed == "" || r.Phase == Superseded || !r.Phase.May(Superseded) || r.Phase == Dropped && r.End.Was == Applied && Complete(r) {
		return r, false
	}
	return r.To(Superseded), true
}

// Precedes reports whether a run is that of a project under its former name, or in its former workspace.
func Precedes(r Run, p project.Project) bool {
	rehoused := r.End.Renamed == r.Project // it has another workspace
	return r.End.Renamed != "" && r.End.Renamed == p.Name && (r.Workspace == p.Workspace) != rehoused
}

// Counted reports whether a run is of a project that the last look at a head has counted, and that needs no other plan than its own.
// One that the base branch has removed is counted, one whose successor is planned is not.
func Counted(r Run, head string) bool {
	return r.Spec.Head == head && !r.Spec.Beside && (r.Phase != Superseded || r.End.Fate == Gone)
}
