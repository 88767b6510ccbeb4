package template

import (
	"maps"
	"slices"
	"strings"
)

// A Cycle is a list of resources of which none can be created first; the last needs the first.
type Cycle []string

// Error names them in the order of their needs.
func (c Cycle) Error() string {
	return "a cycle: " + strings.Join(append(slices.Clone(c), c[0]), " needs ")
}

// A graph has the needs of each resource: the resources that must exist before it.
type graph map[string][]string

// order returns the resources in an order in which they can be created, always the same one, or a
// Cycle. CloudFormation creates resources at the same time where it can, and refuses a template
// with a cycle before it creates any.
// Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/troubleshooting.html#troubleshooting-errors-dependency-error
func (g graph) order() ([]string, error) {
	var out, path []string
	done := map[string]bool{}
	var visit func(name string) error
	visit = func(name string) error {
		if done[name] {
			return nil
		}
		if i := slices.Index(path, name); i >= 0 {
			return Cycle(slices.Clone(path[i:]))
		}
		path = append(path, name)
		for _, need := range slices.Sorted(slices.Values(g[name])) {
			if err := visit(need); err != nil {
				return err
			}
		}
		path = path[:len(path)-1]
		done[name] = true
		out = append(out, name)
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(g)) {
		if err := visit(name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// needs reports whether one resource is always created after another. The graph has no cycle.
func (g graph) needs(name, other string) bool {
	return slices.ContainsFunc(g[name], func(need string) bool { return need == other || g.needs(need, other) })
}
