package template

import (
	"maps"
	"slices"
	"strings"
)

// A Circle is resources none of which can be made first; the last needs the first.
type Circle []string

// Error names them in the order of their needs.
func (c Circle) Error() string {
	return "a circle: " + strings.Join(append(slices.Clone(c), c[0]), " needs ")
}

// graph is what must be there before each resource can be made.
type graph map[string][]string

// order returns the resources in an order in which they can be made, which is always the
// same, or a Circle. CloudFormation makes what it can at the same time, and refuses a
// template with a circle before it makes anything.
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
			return Circle(slices.Clone(path[i:]))
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

// needs reports whether one resource is made after another for sure. The graph has no
// circle.
func (g graph) needs(name, other string) bool {
	return slices.ContainsFunc(g[name], func(need string) bool { return need == other || g.needs(need, other) })
}
