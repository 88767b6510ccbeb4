// Package constraint says which versions of a provider a configuration accepts.
//
// hashicorp/go-version parses constraints as well, but differs from what Terraform
// does for providers: there a pre-release is taken only if a constraint asks for
// exactly that one, build metadata counts, and a set of constraints has one normal
// form, which the dependency lock file requires. The rules here were established by
// trying Terraform 1.11.4.
//
// The package knows nothing about providers, sources and files. Start at [Parse]
// and [Set.Newest].
package constraint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	goversion "github.com/hashicorp/go-version"
)

// operator is what a term asks of a version. The values are in the order of terms
// of the same version in the normal form.
type operator int

const (
	greater operator = iota
	greaterOrEqual
	exactly
	patchOnly // ~> 1.2.3: 1.2.x from 1.2.3 on
	minorOnly // ~> 1.2: 1.x from 1.2.0 on
	lessOrEqual
	less
	not
)

// symbols are the operators as they are printed.
var symbols = [...]string{
	greater: "> ", greaterOrEqual: ">= ", exactly: "", patchOnly: "~> ", minorOnly: "~> ",
	lessOrEqual: "<= ", less: "< ", not: "!= ",
}

// A term is one constraint, like `>= 1.2.0`.
type term struct {
	op operator
	at Version
}

// Set holds the versions that meet all of some constraints. The zero value holds
// all releases. Sets are immutable.
type Set struct {
	terms []term // sorted, without repetitions
}

// Parse reads constraints as they are written in a configuration, separated by
// commas: `>= 1.0, < 3, != 1.2.1`. The empty string stands for all releases.
func Parse(s string) (Set, error) {
	if s == "" {
		return Set{}, nil
	}
	var terms []term
	for part := range strings.SplitSeq(s, ",") {
		t, err := parseTerm(strings.TrimSpace(part))
		if err != nil {
			return Set{}, err
		}
		terms = append(terms, t)
	}
	return newSet(terms), nil
}

// From converts constraints that hashicorp/go-version has parsed. It fails for
// what that accepts and providers do not have, such as `1.2.3.4` and `v1.2.3`.
func From(constraints goversion.Constraints) (Set, error) {
	return Parse(constraints.String())
}

// And returns the set of the versions that are in both s and x.
func (s Set) And(x Set) Set { return newSet(slices.Concat(s.terms, x.terms)) }

func newSet(terms []term) Set {
	slices.SortFunc(terms, func(a, b term) int {
		return cmp.Or(a.at.compareTotally(b.at), cmp.Compare(a.op, b.op))
	})
	return Set{slices.Compact(terms)}
}

// operators lists what a term may start with, longer ones first.
var operators = []struct {
	symbol string
	op     operator
}{
	{">=", greaterOrEqual}, {"<=", lessOrEqual}, {"!=", not}, {"~>", patchOnly},
	{">", greater}, {"<", less}, {"=", exactly}, {"", exactly},
}

func parseTerm(s string) (term, error) {
	if s == "" {
		return term{}, fmt.Errorf("empty version constraint: write something like \">= 1.2.0\"")
	}
	for _, o := range operators {
		rest, ok := strings.CutPrefix(s, o.symbol)
		if !ok {
			continue
		}
		v, parts, err := parseVersion(strings.TrimSpace(rest))
		if err != nil {
			return term{}, fmt.Errorf("invalid version constraint %q: %w", s, err)
		}
		// `~> 1` is the same as `~> 1.0`.
		if o.op == patchOnly && parts < 3 {
			return term{minorOnly, v}, nil
		}
		return term{o.op, v}, nil
	}
	panic("the last operator is empty and fits all")
}

// IsAll reports whether s holds all releases, because nothing constrains it.
func (s Set) IsAll() bool { return len(s.terms) == 0 }

// Has reports whether v meets all constraints of s. A pre-release does so only if
// one of them asks for exactly that version.
func (s Set) Has(v Version) bool {
	asked := v.Prerelease == ""
	for _, t := range s.terms {
		if !t.has(v) {
			return false
		}
		asked = asked || t.op == exactly
	}
	return asked
}

// Newest returns the newest of some versions that s holds.
func (s Set) Newest(versions []Version) (newest Version, ok bool) {
	for _, v := range versions {
		if s.Has(v) && (!ok || v.compareTotally(newest) > 0) {
			newest, ok = v, true
		}
	}
	return newest, ok
}

func (t term) has(v Version) bool {
	switch t.op {
	case greater:
		return v.Compare(t.at) > 0
	case greaterOrEqual:
		return v.Compare(t.at) >= 0
	case exactly:
		return v == t.at
	case patchOnly:
		return v.Compare(t.at) >= 0 && v.Compare(Version{Major: t.at.Major, Minor: t.at.Minor + 1}) < 0
	case minorOnly:
		return v.Compare(t.at) >= 0 && v.Compare(Version{Major: t.at.Major + 1}) < 0
	case lessOrEqual:
		return v.Compare(t.at) <= 0
	case less:
		return v.Compare(t.at) < 0
	case not:
		return v != t.at
	}
	panic(fmt.Sprintf("operator %d", t.op))
}

// String returns the normal form, which the dependency lock file records:
// `>= 1.0.0, ~> 1.0, != 1.2.0`. It is sorted by version and free of repetitions,
// and empty for all releases.
func (s Set) String() string {
	var b strings.Builder
	for i, t := range s.terms {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(symbols[t.op])
		text := t.at.String()
		if t.op == minorOnly {
			// Only here two numbers are left, since the third changes the meaning.
			numbers := fmt.Sprintf("%d.%d", t.at.Major, t.at.Minor)
			text = numbers + strings.TrimPrefix(text, fmt.Sprintf("%s.%d", numbers, t.at.Patch))
		}
		b.WriteString(text)
	}
	return b.String()
}
