package project

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/places"
)

// Removed returns the projects of base whose states no project of head has. Without a removal plan, nobody
// would plan the objects of these projects again. A project does not count as removed if head has it under
// another name with the same state, or under the same name with another state. A state with the place
// [places.Local] is identified by its project's name.
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

// address returns the address of the project's state. It returns "" if the project has no address, or if
// Lockstep stores the state.
func (p Project) address() string {
	if p.Nowhere != "" || p.Place.Is(places.Local) {
		return ""
	}
	return p.Place.String()
}
