package project

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/places"
)

// A Former is a project that a checkout no longer has.
type Former struct {
	Place                string // address of the project's state, by places.Place.String; "" if it is unknown
	Name, Dir, Workspace string
	Now                  string // the project's new name, if an earlier search found it; otherwise ""
}

// Successor returns the project of a checkout that continues a former project. all are the projects of the
// checkout. taken reports whether a project existed together with the former one. The first project of this
// list that exists is the successor:
//
//   - the one project in the same workspace with the same state
//   - the one project in the same workspace and directory with the name f.Now
//   - the one project in the same workspace and directory that taken does not report
//   - a project with the same name and directory in another workspace that taken does not report
func Successor(f Former, all []Project, taken func(Project) bool) (p Project, ok bool) {
	for _, is := range []func(Project) bool{
		func(p Project) bool {
			return f.Place != "" && p.Nowhere == "" && !p.Place.Is(places.Local) && p.Place.String() == f.Place
		},
		func(p Project) bool { return p.Dir == f.Dir && p.Name == f.Now },
		func(p Project) bool { return p.Dir == f.Dir && !taken(p) },
	} {
		found := slices.DeleteFunc(slices.Clone(all), func(p Project) bool { return p.Workspace != f.Workspace || !is(p) })
		if len(found) == 1 {
			return found[0], true
		}
	}
	i := slices.IndexFunc(all, func(p Project) bool {
		return p.Name == f.Name && p.Dir == f.Dir && p.Workspace != f.Workspace && !taken(p)
	})
	if i < 0 {
		return p, false
	}
	return all[i], true
}
