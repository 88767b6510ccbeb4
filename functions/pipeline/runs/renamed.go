package runs

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// Successor returns the project that has the place of a run's own in a checkout without it: its state; or, where nobody has that,
// its directory, of which no other project is and taken does not tell that it was there beside the run's. all are the projects of the
// checkout. Its workspace is that of the run.
func Successor(r Run, all []project.Project, taken func(project.Project) bool) (p project.Project, ok bool) {
	find := func(is func(project.Project) bool) []project.Project {
		return slices.DeleteFunc(slices.Clone(all), func(p project.Project) bool { return p.Workspace != r.Workspace || !is(p) })
	}
	for _, is := range []func(project.Project) bool{
		func(p project.Project) bool {
			return r.Place != "" && p.Nowhere == "" && !p.Place.Is(places.Local) && p.Place.String() == r.Place
		},
		func(p project.Project) bool { return p.Dir == r.Dir && p.Name == r.Renamed },
		func(p project.Project) bool { return p.Dir == r.Dir && !taken(p) },
	} {
		if found := find(is); len(found) == 1 {
			return found[0], true
		}
	}
	return p, false
}

// RenamedByBase returns a run whose project has another name on the base branch by now: a plan is out of date, and what has failed, or
// is applied, stays that. ok is false if the run stays as it is: it is under way, its pull request removes the project itself, or the
// name is known.
func RenamedByBase(r Run, name string) (renamed Run, ok bool) {
	moving := r.Phase == New || r.Phase == Queued || r.Phase == Planning || r.Phase.UnderWay()
	if r.Removed || moving || r.Renamed == name && !r.Gone {
		return r, false
	}
	if r.Phase == Planned {
		r = r.To(Stale)
	}
	r.Gone, r.Renamed = false, name
	return r, true
}

// Succeeded returns a run whose project is planned at its head under another name. ok is false if it stays as it is: it is under
// way, or what it has applied stays.
func Succeeded(r Run) (over Run, ok bool) {
	if r.Renamed == "" || r.Phase == Superseded || !r.Phase.May(Superseded) || r.Phase == Dropped && r.Was == Applied && Complete(r) {
		return r, false
	}
	return r.To(Superseded), true
}

// Precedes reports whether a run is that of a project under its former name.
func Precedes(r Run, p project.Project) bool {
	return r.Renamed != "" && r.Renamed == p.Name && r.Workspace == p.Workspace
}

// Counted reports whether a run is of a project that the last look at a head has counted, and that needs no other plan than its own.
// One that the base branch has removed is counted, one whose successor is planned is not.
func Counted(r Run, head string) bool {
	return r.Head == head && !r.Beside && (r.Phase != Superseded || r.Gone)
}
