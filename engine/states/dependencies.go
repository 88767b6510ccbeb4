package states

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// Dependencies are the resources that an object was made with the help of. The
// file lists them in full, transitively, which is quadratic in a chain; so in
// memory they are a graph that is shared between all instances, and the list is
// made only for who asks ([Dependencies.ListAll], or [Close] for many at once).
// Immutable, safe for concurrent use. The nil value means none.
type Dependencies struct {
	listed  []addrs.ConfigResource        // sorted
	load    func() []addrs.ConfigResource // or: makes listed, called once
	once    sync.Once
	encoded []byte // the input of load, if a file had it
	direct  []Dependency
	merged  []*Dependencies // besides, all that these hold
}

// A Dependency is a resource with its own dependencies.
type Dependency struct {
	Resource addrs.ConfigResource
	Further  *Dependencies
}

// ListedDependencies returns dependencies that are already transitive. load is called at the first
// use, if ever; its result is sorted as that of All.
func ListedDependencies(load func() []addrs.ConfigResource) *Dependencies {
	return &Dependencies{load: load}
}

// EncodedDependencies is [ListedDependencies] that remembers the form in which a
// state file has them: a JSON list of addresses, which load decodes.
func EncodedDependencies(encoded []byte, load func() []addrs.ConfigResource) *Dependencies {
	return &Dependencies{load: load, encoded: encoded}
}

// DirectDependencies returns dependencies given by the direct ones.
func DirectDependencies(direct []Dependency) *Dependencies {
	if len(direct) == 0 {
		return nil
	}
	return &Dependencies{direct: direct}
}

// Parts returns what d was made of: the direct dependencies, those that were merged into it, or the
// list that was given in full.
func (d *Dependencies) Parts() (direct []Dependency, merged []*Dependencies, listed []addrs.ConfigResource) {
	switch {
	case d == nil:
		return nil, nil, nil
	case d.load != nil:
		return nil, nil, d.All()
	}
	return d.direct, d.merged, nil
}

// Encoded returns the JSON list that d was read from, or nil if there is none.
// The caller must not change it.
func (d *Dependencies) Encoded() []byte {
	if d == nil {
		return nil
	}
	return d.encoded
}

// MergeDependencies returns the union of dependencies.
func MergeDependencies(a, b *Dependencies) *Dependencies {
	switch {
	case a == nil || a == b:
		return b
	case b == nil:
		return a
	}
	return &Dependencies{merged: []*Dependencies{a, b}}
}

// All returns every resource depended on, directly or not, sorted by their
// printed form as state files have them. The caller must not change it.
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

// Until is [Dependencies.ListAll] without the dependencies of those for which enough is true. Lists
// that are given in full stay as they are.
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

// sortByName prints each resource once and sorts by that.
func sortByName[V any](set map[addrs.ConfigResource]V) []namedResource {
	out := make([]namedResource, 0, len(set))
	for r := range set {
		out = append(out, namedResource{r.String(), r})
	}
	slices.SortFunc(out, func(a, b namedResource) int { return cmp.Compare(a.name, b.name) })
	return out
}

// SortDependencies sorts a list like [Dependencies.ListAll] and removes duplicates. It works in place.
func SortDependencies(list []addrs.ConfigResource) []addrs.ConfigResource {
	byName := func(a, b addrs.ConfigResource) int { return strings.Compare(a.String(), b.String()) }
	if !slices.IsSortedFunc(list, byName) {
		slices.SortFunc(list, byName)
	}
	return slices.Compact(list)
}

// A Closure knows many dependencies in full. Making it costs about as much as its result is long:
// parts that several of them share are followed once. A Closure is not safe for concurrent use.
type Closure struct {
	names []string // of all resources, sorted
	ranks map[addrs.ConfigResource]int32
	lists map[*Dependencies][]int32
	stamp []int // by rank: the last list that has it
	made  int
}

// Close prepares the lists of all of the given dependencies.
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

// gather finds every resource that lists can have.
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

// Names returns the printed forms of all resources that occur, sorted. The
// numbers in lists are indices of it.
func (c *Closure) Names() []string { return c.names }

// List returns every resource that d depends on, directly or not, in ascending
// order. d is one that the closure was made of. The caller must not change it.
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
		c.made++ // only now: stamps are for one list at a time
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

// add appends r unless the list being made has it.
func (c *Closure) add(l []int32, r int32) []int32 {
	if c.stamp[r] == c.made {
		return l
	}
	c.stamp[r] = c.made
	return append(l, r)
}
