// Package order decides in which order the projects of a pull request are applied. It uses the dependencies
// between projects and the progress of each.
//
// This package is pure. It does not read settings (package project does) or write messages (package comment
// does). Start reading at [Union] and [Waits].
package order

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Edges has the projects that each project depends on, as a sorted list without duplicates. A name may be a
// [Set] of projects. A project that depends on a set depends on all members of the set. The members get no
// dependencies from the set. So a thousand projects that depend on a thousand others need only two thousand
// edges.
type Edges map[string][]string

// Set reports whether a name stands for several projects: it is a pattern or a [Group].
func Set(name string) bool { return strings.ContainsAny(name, " *?[{\\") }

// Group is the name of the projects with one group number. Projects with the next higher number depend on them.
func Group(number int) string { return fmt.Sprintf("group %d", number) }

// Matches returns the names that a pattern in doublestar's notation matches. A name without special characters
// matches itself.
func Matches(pattern string, names []string) []string {
	var out []string
	for _, n := range names {
		if n == pattern || doublestar.MatchUnvalidated(pattern, n) {
			out = append(out, n)
		}
	}
	return out
}

// Union returns the dependencies that count for a pull request. The pull request's author writes head. So head
// may add edges but not remove any: an edge of the base branch counts if the head has both projects.
//
// A project that the head has removed or renamed waits for no project, and no project waits for it. Instead,
// the projects that depended on the removed project depend on its dependencies. The function present reports
// whether the head has a project. It may return false for an unchanged project that has no edges at the head.
func Union(base, head Edges, present func(name string) bool) Edges {
	out := Edges{}
	// A set of the base branch has the members that it has there, even if the head has a set with the same
	// name.
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

// passing returns the projects that a project depends on, directly or through projects that are not present.
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

// Cycle returns the projects of a cycle. Each depends on the next one, and the last is the same as the first.
// Cycle returns nil if there is no cycle. Equal edges give equal results.
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

// Waves returns the names in the order of their applies. A project depends on no project in the same or a later
// wave. Dependencies through projects that are not among names count, too, because such projects have no
// changes. Within a wave, the names are sorted. If there is a [Cycle], ok is false and there are no waves.
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

// before returns the projects that a project depends on, directly or not, sorted. A project in a cycle depends
// on itself.
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

// Around returns the edges of a project and of all projects that it depends on. These edges decide when the
// project is applied.
func Around(edges Edges, name string) Edges {
	out := Edges{}
	for _, n := range append(before(edges, name), name) {
		if len(edges[n]) > 0 {
			out[n] = edges[n]
		}
	}
	return out
}

// Ranks returns a number for each name. A project has a higher number than the projects that it depends on.
// In a [Cycle], this is not possible.
func Ranks(edges Edges, names []string) map[string]int {
	out := map[string]int{}
	for _, n := range names {
		out[n] = len(before(edges, n))
	}
	return out
}

// Progress is the progress of a project in a pull request.
type Progress int

const (
	// Unknown means that the plan of a project in the pull request is in progress or lost.
	Unknown   Progress = iota
	Failed             // it has to be planned again: its plan or apply has failed, or its plan is out of date
	Unchanged          // its plan has no changes
	Pending            // its plan has changes, and not all are applied
	Applied            // its changes are applied
)

// Waits returns the projects that block the apply of a project, sorted. These projects belong to the pull
// request, and are neither applied nor unchanged. The project depends on them directly or indirectly. Projects
// that progress does not have are not in the pull request, and block nothing.
func Waits(edges Edges, progress map[string]Progress, name string) []string {
	var out []string
	for _, n := range before(edges, name) {
		if open(progress, n) {
			out = append(out, n)
		}
	}
	return out
}

// Dependents returns the projects that block the destruction of a project, sorted. These projects belong to the
// pull request, and depend on the project directly or indirectly. They are neither applied nor unchanged.
func Dependents(edges Edges, progress map[string]Progress, name string) []string {
	var out []string
	for _, n := range slices.Sorted(maps.Keys(progress)) {
		if n != name && open(progress, n) && slices.Contains(before(edges, n), name) {
			out = append(out, n)
		}
	}
	return out
}

// open reports whether a project of the pull request is neither applied nor unchanged.
func open(progress map[string]Progress, name string) bool {
	p, ok := progress[name]
	return ok && p != Unchanged && p != Applied
}
