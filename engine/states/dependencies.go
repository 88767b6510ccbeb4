package states

import (
	"slices"
	"sync"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// Dependencies are the resources that an object was made with the help of. The
// file lists them in full, transitively, which is quadratic in a chain; so in
// memory they are a graph that is shared between all instances, and the list is
// made only for who asks ([Dependencies.All]). Immutable, safe for concurrent use.
// The nil value means none.
type Dependencies struct {
	listed []addrs.ConfigResource        // sorted
	load   func() []addrs.ConfigResource // or: makes listed, called once
	once   sync.Once
	direct []Dependency
}

// A Dependency is a resource and what it depends on in turn.
type Dependency struct {
	Resource addrs.ConfigResource
	Further  *Dependencies
}

// ListedDependencies returns dependencies that are already transitive. load is
// called at the first use, if ever.
func ListedDependencies(load func() []addrs.ConfigResource) *Dependencies {
	return &Dependencies{load: load}
}

// DirectDependencies returns dependencies given by the direct ones.
func DirectDependencies(direct []Dependency) *Dependencies {
	if len(direct) == 0 {
		return nil
	}
	return &Dependencies{direct: direct}
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
		for _, y := range x.direct {
			seen[y.Resource] = true
			visit(y.Further)
		}
	}
	visit(d)
	out := make([]addrs.ConfigResource, 0, len(seen))
	for r := range seen {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b addrs.ConfigResource) int {
		switch x, y := a.String(), b.String(); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return out
}
