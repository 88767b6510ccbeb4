package diags

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Sorted returns ds in the order in which they are shown: warnings before errors. Among warnings, and among
// errors, diagnostics without a range come first. All others are sorted by file (files of outer directories
// first), position, and address. Diagnostics that are equal in all this keep their order.
//
// Source: Terraform's tfdiags.Diagnostics.Sort.
func (ds Diagnostics) Sorted() Diagnostics {
	out := slices.Clone(ds)
	slices.SortStableFunc(out, func(a, b Diagnostic) int {
		switch {
		case a.Severity != b.Severity:
			return first(a.Severity == Warning)
		case (a.Subject == nil) != (b.Subject == nil):
			return first(a.Subject == nil)
		case a.Subject == nil:
			return cmp.Compare(a.Address, b.Address)
		}
		return cmp.Or(comparePlaces(*a.Subject, *b.Subject), cmp.Compare(a.Address, b.Address))
	})
	return out
}

// first returns -1 if sortFirst is true, and otherwise 1: the result of a comparison that sorts the element
// first or last.
func first(sortFirst bool) int {
	if sortFirst {
		return -1
	}
	return 1
}

func comparePlaces(a, b hcl.Range) int {
	return cmp.Or(
		cmp.Compare(strings.Count(a.Filename, "/"), strings.Count(b.Filename, "/")),
		cmp.Compare(a.Filename, b.Filename),
		cmp.Compare(a.Start.Byte, b.Start.Byte),
		cmp.Compare(a.End.Byte, b.End.Byte),
	)
}
