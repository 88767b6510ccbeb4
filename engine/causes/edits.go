package causes

import (
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// An Edit is one place at which a file was changed: lines were added, removed, or replaced.
type Edit struct {
	// First and Last are the new lines, counted from 1. If lines were only removed, First is the line that
	// followed them, and Last is First-1.
	First, Last int
	// Added are the new lines, and Removed the lines that are gone, without line ends.
	Added, Removed []string
}

// Edits are the edits of the files of a configuration, in the order of their lines. The keys are file names as
// in the ranges of the configuration.
type Edits map[string][]Edit

// near returns the edits that begin or end in a range, or around it. It does not look at each edit, because a
// file may have thousands of edits, and a configuration thousands of expressions.
func (e Edits) near(r hcl.Range) []Edit {
	all := e[r.Filename]
	from, _ := slices.BinarySearchFunc(all, r.Start.Line, func(x Edit, line int) int { return cmp.Compare(max(x.First, x.Last), line) })
	to, _ := slices.BinarySearchFunc(all[from:], r.End.Line+1, func(x Edit, line int) int { return cmp.Compare(x.First, line) })
	return all[from : from+to]
}

// within returns the parts of a range that were edited. If the range is one line, lines removed before and
// after it do not count.
func (e Edits) within(r hcl.Range) []hcl.Range {
	var out []hcl.Range
	for _, x := range e.near(r) {
		switch {
		case x.First > x.Last && r.Start.Line < x.First && x.First <= r.End.Line:
			out = append(out, lines(r.Filename, x.Last, x.Last))
		case x.First <= x.Last && x.First <= r.End.Line && r.Start.Line <= x.Last:
			out = append(out, lines(r.Filename, max(x.First, r.Start.Line), min(x.Last, r.End.Line)))
		}
	}
	return out
}

// removed returns the places in a range at which matching lines were removed: lines for which is(line) is true.
// The places are the new lines, or the line before the removed ones if there are none.
func (e Edits) removed(r hcl.Range, is func(line string) bool) []hcl.Range {
	var out []hcl.Range
	for _, x := range e.near(r) {
		if x.Last < r.Start.Line {
			continue
		}
		if slices.ContainsFunc(x.Removed, is) {
			out = append(out, lines(r.Filename, max(min(x.First, x.Last), 1), max(x.Last, 1)))
		}
	}
	return out
}

// added returns those new lines of a file for which is(line) is true.
func (e Edits) added(file string, is func(line string) bool) []hcl.Range {
	var out []hcl.Range
	for _, x := range e[file] {
		for i, line := range x.Added {
			if is(line) {
				out = append(out, lines(file, x.First+i, x.First+i))
			}
		}
	}
	return out
}

func lines(file string, first, last int) hcl.Range {
	return hcl.Range{Filename: file, Start: hcl.Pos{Line: first}, End: hcl.Pos{Line: last}}
}
