package project

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/project/order"
)

// Dependents returns the projects that depend directly on the project with a name: by depends_on, by their inputs, or
// because they read its state. They are in the order of all. A group of Terragrunt or Atlantis is an order, and no
// dependency.
func Dependents(all []Project, name string) (out []Project) {
	names := []string{name}
	var readers []string
	for _, p := range all {
		if p.Name == name {
			readers = append(readers, Readers(all, p)...)
		}
	}
	for _, p := range all {
		depends := slices.ContainsFunc(p.DependsOn, func(pattern string) bool {
			return pattern == name || order.Set(pattern) && slices.Contains(order.Matches(pattern, names), name)
		})
		if p.Name != name && (depends || slices.Contains(readers, p.Name)) {
			out = append(out, p)
		}
	}
	return out
}
