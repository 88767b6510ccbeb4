// Package constraint decides which versions of a provider a configuration accepts.
//
// The rules are those of apparentlymart/go-versions, as in Terraform. A pre-release is accepted only if a
// constraint asks for exactly that version. Versions with different build metadata are different. For modules
// and the language version, Lockstep uses hashicorp/go-version, which has other rules. This package also
// writes the normal form of constraints for the dependency lock file.
//
// It does not depend on providers, sources and files. Start at [Parse] and [Set.Newest].
package constraint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/apparentlymart/go-versions/versions/constraints"
	goversion "github.com/hashicorp/go-version"
)

// Set is the set of versions that meet some constraints. The zero value contains all releases. A Set never
// changes.
type Set struct {
	terms []constraints.SelectionSpec // sorted, without repetitions
	has   versions.Set
}

// Parse reads constraints as a configuration writes them, separated by commas: `>= 1.0, < 3, != 1.2.1`. The
// empty string means all releases.
func Parse(s string) (Set, error) {
	if s == "" {
		return Set{}, nil
	}
	// The library ignores a comma at the end; the language refuses it.
	if strings.HasSuffix(strings.TrimSpace(s), ",") {
		return Set{}, fmt.Errorf("invalid version constraint %q: it ends with a comma", s)
	}
	spec, err := bounded(constraints.ParseRubyStyleMulti, s)
	if err != nil {
		return Set{}, fmt.Errorf("invalid version constraint %q: %w", s, err)
	}
	return newSet(spec), nil
}

// From converts constraints that hashicorp/go-version has parsed. It fails for versions that providers cannot
// have, such as `1.2.3.4` and `v1.2.3`.
func From(constraints goversion.Constraints) (Set, error) {
	return Parse(constraints.String())
}

// And returns the versions that are in both s and x.
func (s Set) And(x Set) Set { return newSet(slices.Concat(s.terms, x.terms)) }

func newSet(terms []constraints.SelectionSpec) Set {
	if len(terms) == 0 {
		return Set{}
	}
	terms = slices.Clone(terms)
	for i := range terms {
		terms[i].Boundary = terms[i].Boundary.ConstrainToZero() // `1` is the same as `1.0.0`
	}
	slices.SortFunc(terms, func(a, b constraints.SelectionSpec) int {
		return cmp.Or(compareTotally(boundary(a), boundary(b)), cmp.Compare(rank(a.Operator), rank(b.Operator)))
	})
	terms = slices.Compact(terms)
	return Set{terms, versions.MeetingConstraints(constraints.IntersectionSpec(terms))}
}

// boundary returns the version in a term: 1.2.0 in `>= 1.2.0`.
func boundary(t constraints.SelectionSpec) Version {
	b := t.Boundary
	return Version{
		Major: b.Major.Num, Minor: b.Minor.Num, Patch: b.Patch.Num,
		Prerelease: versions.VersionExtra(b.Prerelease), Metadata: versions.VersionExtra(b.Metadata),
	}
}

// IsAll reports whether s has no constraints, and so contains all releases.
func (s Set) IsAll() bool { return len(s.terms) == 0 }

// Has reports whether v meets all constraints of s. A pre-release meets them only if one of them asks for
// exactly that version.
func (s Set) Has(v Version) bool {
	if s.IsAll() {
		return versions.Released.Has(v)
	}
	return s.has.Has(v)
}

// Newest returns the newest of the given versions that s contains. ok is false if s contains none of them.
func (s Set) Newest(versions []Version) (newest Version, ok bool) {
	for _, v := range versions {
		if s.Has(v) && (!ok || compareTotally(v, newest) > 0) {
			newest, ok = v, true
		}
	}
	return newest, ok
}
