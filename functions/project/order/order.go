// Package order decides in which order the projects of a pull request are applied: from the edges
// between projects, and from how far each project of the pull request is.
//
// The package is pure. It refuses to read settings (package project does) and to know words (package
// comment). Start at [Union] and [Waits].
package order

import (
	"maps"
	"slices"

	"github.com/bmatcuk/doublestar/v4"
)

// Edges are the projects that a project depends on, by its name: names, sorted, each once.
type Edges map[string][]string

// Matches returns those of names that a pattern, in doublestar's notation, is for. A name that has
// no special character is a pattern for itself.
func Matches(pattern string, names []string) []string {
	var out []string
	for _, n := range names {
		if n == pattern || doublestar.MatchUnvalidated(pattern, n) {
			out = append(out, n)
		}
	}
	return out
}

// Union returns the order that holds for a pull request. The author of a pull request writes head, so
// it may add edges and take none away: an edge of the base branch between two projects that the head
// still has stays. present reports whether the head has a project.
func Union(base, head Edges, present func(name string) bool) Edges {
	out := Edges{}
	add := func(from, to string) {
		if present(from) && present(to) && !slices.Contains(out[from], to) {
			out[from] = append(out[from], to)
		}
	}
	for _, edges := range []Edges{base, head} {
		for from, all := range edges {
			for _, to := range all {
				add(from, to)
			}
		}
	}
	for _, all := range out {
		slices.Sort(all)
	}
	return out
}

// Cycle returns the projects of a cycle, each followed by one that it depends on and the first one
// again at the end; nil if there is none. Equal edges have equal answers.
func Cycle(edges Edges) []string {
	done := map[string]bool{}
	var way []string
	var visit func(name string) []string
	visit = func(name string) []string {
		if i := slices.Index(way, name); i >= 0 {
			return append(slices.Clone(way[i:]), name)
		}
		if done[name] {
			return nil
		}
		way = append(way, name)
		for _, to := range edges[name] {
			if found := visit(to); found != nil {
				return found
			}
		}
		way, done[name] = way[:len(way)-1], true
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(edges)) {
		if found := visit(name); found != nil {
			return found
		}
	}
	return nil
}

// Waves returns the names in the order of their applies: the projects of a wave depend on none of the
// same wave or a later one. Dependencies count through projects that names lack, because these have
// no changes. Within a wave the names are sorted. ok is false if there is a [Cycle]: then there are
// no waves.
func Waves(edges Edges, names []string) (waves [][]string, ok bool) {
	if Cycle(edges) != nil {
		return nil, false
	}
	left := slices.Compact(slices.Sorted(slices.Values(names)))
	for len(left) > 0 {
		var wave, later []string
		for _, n := range left {
			all := Before(edges, n)
			if slices.ContainsFunc(left, func(m string) bool { return slices.Contains(all, m) }) {
				later = append(later, n)
			} else {
				wave = append(wave, n)
			}
		}
		waves, left = append(waves, wave), later
	}
	return waves, true
}

// Before returns the projects that a project depends on, directly or not, sorted. One in a cycle is
// among its own.
func Before(edges Edges, name string) []string {
	found := map[string]bool{}
	next := slices.Clone(edges[name])
	for len(next) > 0 {
		n := next[0]
		if next = next[1:]; !found[n] {
			found[n] = true
			next = append(next, edges[n]...)
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// Progress is how far a project of a pull request is.
type Progress int

const (
	// Unknown is that of a project of the pull request about which nothing can be told: its plan is
	// under way, failed, or is lost.
	Unknown   Progress = iota
	Unchanged          // its plan has no changes
	Pending            // its plan has changes that are not applied, or not all of them
	Applied            // its changes are applied
)

// Waits returns the projects that hold up the apply of a project, sorted: those of the pull request
// that it depends on, directly or not, and that are neither applied nor without changes. Projects
// that progress lacks are none of the pull request, and hold up nothing.
func Waits(edges Edges, progress map[string]Progress, name string) []string {
	var out []string
	for _, n := range Before(edges, name) {
		if p, ok := progress[n]; ok && p != Unchanged && p != Applied {
			out = append(out, n)
		}
	}
	return out
}
