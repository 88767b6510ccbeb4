package project

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/places"
)

// Removed returns the projects of base whose states none of head has any more: nobody would plan their objects again.
// A project that has another name and the same state, or the same name and another state, is not removed. A state
// in the place [places.Local] is that of its project's name.
func Removed(base, head []Project) []Project {
	kept := map[[2]string]bool{}
	states := map[string]bool{}
	for _, p := range head {
		kept[[2]string{p.Name, p.Workspace}] = true
		states[p.address()] = true
	}
	return slices.DeleteFunc(slices.Clone(base), func(p Project) bool {
		return kept[[2]string{p.Name, p.Workspace}] || p.address() != "" && states[p.address()]
	})
}

// address is that of the project's state, "" if it has none of its own.
func (p Project) address() string {
	if p.Nowhere != "" || p.Place.Is(places.Local) {
		return ""
	}
	return p.Place.String()
}
