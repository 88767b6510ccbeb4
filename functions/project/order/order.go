// Package order decides in which order the projects of a pull request are applied: from the edges
// between projects, and from how far each project of the pull request is.
//
// The package is pure. It refuses to read settings (package project does) and to know words (package
// comment). Start at [Union] and [Waits].
package order

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Edges are the projects that a project depends on, by its name: names, sorted, each once. A [Set] among them stands for
// its members, which depend on nothing because of it: so a thousand projects that depend on a thousand others are two
// thousand edges.
type Edges map[string][]string

// Set reports whether a name is none of a project, but of a set of them: a pattern, or a [Group].
func Set(name string) bool { return strings.ContainsAny(name, " *?[{\\") }

// Group is the name of the projects with one number: those of the next higher number depend on them.
func Group(number int) string { return fmt.Sprintf("group %d", number) }

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
// still has stays. A project that the head has removed, or renamed, waits for nobody and holds up
// nobody; those that depended on it depend on what it depended on. present reports whether the head has a
// project; of one that has no edges there, and is not changed, it may say no.
func Union(base, head Edges, present func(name string) bool) Edges {
	out := Edges{}
	// A set of the base branch has the members that it has there, whatever the head calls so.
	ours := func(name string) string {
		if Set(name) {
			return name + " of the base branch"
		}
		return name
	}
	is := func(name string) bool { return Set(name) || present(name) }
	for from := range base {
		if is(from) {
			for _, to := range passing(base, from, is) {
				if to != from {
					out[ours(from)] = append(out[ours(from)], ours(to))
				}
			}
		}
	}
	for from, all := range head {
		out[from] = append(out[from], all...)
	}
	for from, all := range out {
		slices.Sort(all)
		out[from] = slices.Compact(all)
	}
	return out
}

// passing returns the projects that a project depends on, directly or through projects that are not
// present.
func passing(edges Edges, name string, present func(string) bool) (out []string) {
	seen := map[string]bool{}
	next := slices.Clone(edges[name])
	for len(next) > 0 {
		n := next[0]
		next = next[1:]
		switch {
		case seen[n]:
		case present(n):
			out = append(out, n)
		default:
			next = append(next, edges[n]...)
		}
		seen[n] = true
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
			all := before(edges, n)
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

// before returns the projects that a project depends on, directly or not, sorted. One in a cycle is
// among its own.
func before(edges Edges, name string) []string {
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

// Around returns the edges of a project and of all that it depends on: those that decide when it is
// applied.
func Around(edges Edges, name string) Edges {
	out := Edges{}
	for _, n := range append(before(edges, name), name) {
		if len(edges[n]) > 0 {
			out[n] = edges[n]
		}
	}
	return out
}

// Ranks returns a number for each name that is higher than those of the names that it depends on, except in
// a [Cycle].
func Ranks(edges Edges, names []string) map[string]int {
	out := map[string]int{}
	for _, n := range names {
		out[n] = len(before(edges, n))
	}
	return out
}

// Progress is how far a project of a pull request is.
type Progress int

const (
	// Unknown is that of a project of the pull request about which nothing can be told: its plan is
	// under way, or is lost.
	Unknown   Progress = iota
	Failed             // it has to be planned again: its plan, or its apply, has failed, or is out of date
	Unchanged          // its plan has no changes
	Pending            // its plan has changes that are not applied, or not all of them
	Applied            // its changes are applied
)

// Waits returns the projects that hold up the apply of a project, sorted: those of the pull request
// that it depends on, directly or not, and that are neither applied nor without changes. Projects
// that progress lacks are none of the pull request, and hold up nothing.
func Waits(edges Edges, progress map[string]Progress, name string) []string {
	var out []string
	for _, n := range before(edges, name) {
		if open(progress, n) {
			out = append(out, n)
		}
	}
	return out
}

// Dependents returns the projects that hold up the destruction of a project, sorted: those of the pull request that depend on
// it, directly or not, and that are neither applied nor without changes.
func Dependents(edges Edges, progress map[string]Progress, name string) []string {
	var out []string
	for _, n := range slices.Sorted(maps.Keys(progress)) {
		if n != name && open(progress, n) && slices.Contains(before(edges, n), name) {
			out = append(out, n)
		}
	}
	return out
}

// open reports whether a project of the pull request is neither applied nor without changes.
func open(progress map[string]Progress, name string) bool {
	p, ok := progress[name]
	return ok && p != Unchanged && p != Applied
}
