package states

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// Dependencies are the resources that an object depends on. A state file lists them in full, also indirect
// ones, which is quadratic in a chain. So in memory they are a graph that all instances share.
// [Dependencies.All] makes the list of one object, and [Close] the lists of many at once. Dependencies are
// immutable and safe for concurrent use. The nil value means none.
type Dependencies struct {
	listed  []addrs.ConfigResource        // all dependencies, sorted; see load
	load    func() []addrs.ConfigResource // makes listed, called once; nil if direct or merged are set
	once    sync.Once
	encoded []byte // JSON list that load decodes; nil if not read from a file
	direct  []Dependency
	merged  []*Dependencies // more dependencies, besides direct
}

// A Dependency is a resource with its own dependencies.
type Dependency struct {
	Resource addrs.ConfigResource
	Further  *Dependencies
}

// ListedDependencies returns Dependencies whose complete list comes from load, which is called at the first use. The list
// needs no further additions, and must be sorted like the result of All.
func ListedDependencies(load func() []addrs.ConfigResource) *Dependencies {
	return &Dependencies{load: load}
}

// EncodedDependencies returns dependencies that are stored in a state file, as a JSON list of addresses. It keeps
// this JSON. load decodes it.
func EncodedDependencies(encoded []byte, load func() []addrs.ConfigResource) *Dependencies {
	return &Dependencies{load: load, encoded: encoded}
}

// DirectDependencies returns dependencies made of the direct ones, each with its own dependencies.
func DirectDependencies(direct []Dependency) *Dependencies {
	if len(direct) == 0 {
		return nil
	}
	return &Dependencies{direct: direct}
}

// Parts returns the parts that d was made of: direct dependencies and merged Dependencies, or only a complete
// list.
func (d *Dependencies) Parts() (direct []Dependency, merged []*Dependencies, listed []addrs.ConfigResource) {
	switch {
	case d == nil:
		return nil, nil, nil
	case d.load != nil:
		return nil, nil, d.All()
	}
	return d.direct, d.merged, nil
}

// Encoded returns the JSON list that d was read from; nil if d was not read from a file. The caller must not
// change it.
func (d *Dependencies) Encoded() []byte {
	if d == nil {
		return nil
	}
	return d.encoded
}

// MergeDependencies returns the union of a and b.
func MergeDependencies(a, b *Dependencies) *Dependencies {
	switch {
	case a == nil || a == b:
		return b
	case b == nil:
		return a
	}
	return &Dependencies{merged: []*Dependencies{a, b}}
}

// All returns all resources that d contains, direct and indirect, sorted by their printed form as in state
// files. The caller must not change the list.
func (d *Dependencies) All() []addrs.ConfigResource {
	if d == nil {
		return nil
	}
	if d.load != nil {
		d.once.Do(func() { d.listed = d.load() })
		return d.listed
	}
	return d.Until(func(Dependency) bool { return false })
}

// Until returns the same list as [Dependencies.All], but it does not follow a dependency for which the function
// enough returns true. Such a dependency is in the result, but its own dependencies are not. Complete lists are
// returned unchanged.
func (d *Dependencies) Until(enough func(Dependency) bool) []addrs.ConfigResource {
	if d == nil || d.load != nil {
		return d.All()
	}
	seen := map[addrs.ConfigResource]bool{}
	visited := map[*Dependencies]bool{}
	var visit func(*Dependencies)
	visit = func(x *Dependencies) {
		if x == nil || visited[x] {
			return
		}
		visited[x] = true
		if x.load != nil {
			for _, r := range x.All() {
				seen[r] = true
			}
			return
		}
		for _, y := range x.merged {
			visit(y)
		}
		for _, y := range x.direct {
			if seen[y.Resource] = true; !enough(y) {
				visit(y.Further)
			}
		}
	}
	visit(d)
	named := sortByName(seen)
	out := make([]addrs.ConfigResource, len(named))
	for i, n := range named {
		out[i] = n.resource
	}
	return out
}

type namedResource struct {
	name     string
	resource addrs.ConfigResource
}

// sortByName returns the resources with their printed forms, sorted by these.
func sortByName[V any](set map[addrs.ConfigResource]V) []namedResource {
	out := make([]namedResource, 0, len(set))
	for r := range set {
		out = append(out, namedResource{r.String(), r})
	}
	slices.SortFunc(out, func(a, b namedResource) int { return cmp.Compare(a.name, b.name) })
	return out
}

// SortDependencies sorts a list like [Dependencies.All], and removes duplicates. It changes list in place.
func SortDependencies(list []addrs.ConfigResource) []addrs.ConfigResource {
	byName := func(a, b addrs.ConfigResource) int { return strings.Compare(a.String(), b.String()) }
	if !slices.IsSortedFunc(list, byName) {
		slices.SortFunc(list, byName)
	}
	return slices.Compact(list)
}

// A Closure has the complete lists of many dependencies. Computing them all together costs about as much as the
// lists are long, since parts that the lists share are followed only once. A Closure is not safe for concurrent
// use.
type Closure struct {
	names []string // printed forms of all resources, sorted
	ranks map[addrs.ConfigResource]int32
	lists map[*Dependencies][]int32
	stamp []int // by index in names: number of the last list that contains the resource
	made  int
}

// Close prepares the complete lists of all given dependencies.
func Close(all iter.Seq[*Dependencies]) *Closure {
	c := &Closure{ranks: map[addrs.ConfigResource]int32{}, lists: map[*Dependencies][]int32{}}
	for d := range all {
		c.gather(d)
	}
	named := sortByName(c.ranks)
	c.names, c.stamp = make([]string, len(named)), make([]int, len(named))
	for i, n := range named {
		c.names[i], c.ranks[n.resource] = n.name, int32(i)
	}
	return c
}

// gather adds every resource that the list of d can contain to the resources of the Closure.
func (c *Closure) gather(d *Dependencies) {
	if _, ok := c.lists[d]; ok || d == nil {
		return
	}
	c.lists[d] = nil
	if d.load != nil {
		for _, r := range d.All() {
			c.ranks[r] = 0
		}
		return
	}
	for _, x := range d.direct {
		c.ranks[x.Resource] = 0
		c.gather(x.Further)
	}
	for _, x := range d.merged {
		c.gather(x)
	}
}

// Names returns the printed forms of all resources in the lists, sorted. [Closure.List] returns indices of
// this slice.
func (c *Closure) Names() []string { return c.names }

// List returns all resources that d contains, direct and indirect, as ascending indices of Names. d must be
// one of the dependencies passed to [Close]. The caller must not change the list.
func (c *Closure) List(d *Dependencies) []int32 {
	if d == nil {
		return nil
	}
	if l := c.lists[d]; l != nil {
		return l
	}
	l := []int32{}
	if d.load != nil {
		for _, r := range d.All() {
			l = append(l, c.ranks[r])
		}
	} else {
		parts := make([][]int32, 0, len(d.direct)+len(d.merged))
		for _, x := range d.merged {
			parts = append(parts, c.List(x))
		}
		for _, x := range d.direct {
			parts = append(parts, c.List(x.Further))
		}
		c.made++ // only now: making the other lists has used stamps, too
		for _, part := range parts {
			for _, r := range part {
				l = c.add(l, r)
			}
		}
		for _, x := range d.direct {
			l = c.add(l, c.ranks[x.Resource])
		}
	}
	slices.Sort(l)
	c.lists[d] = l
	return l
}

// add appends r, unless the current list contains it.
func (c *Closure) add(l []int32, r int32) []int32 {
	if c.stamp[r] == c.made {
		return l
	}
	c.stamp[r] = c.made
	return append(l, r)
}
