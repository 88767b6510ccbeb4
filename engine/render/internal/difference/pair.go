package difference

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// Nothing is the absence of a value: an argument that is not set, or an element beyond the end of a list. In
// lists and maps, null is not Nothing.
var Nothing = cty.NilVal

// A pair is the value before and the value after, at one place in an object.
type pair struct {
	before, after cty.Value
	// replace are the paths that force replacement, relative to this place.
	replace PathSet
	// relevant are the paths of the differences to show. nil means all.
	relevant *PathSet
	// modern is set if the schema shows that the object does not use the legacy SDK, which cannot distinguish
	// an empty string from null. As in Terraform, it is not passed on into lists and sets.
	modern bool
	// implied is set if null counts as [Nothing] in this pair.
	implied bool
}

// here reports whether a change at exactly this place forces replacement.
func (x pair) here() bool { return x.replace.ends() }

// with returns the pair for the part of x that the step s leads to. before and after are the values of this
// part.
func (x pair) with(s step, before, after cty.Value) pair {
	out := pair{before: before, after: after, replace: x.replace.next(s, false), modern: x.modern && s.index < 0}
	if x.relevant != nil {
		rel := x.relevant.next(s, true)
		if len(rel) == 0 {
			out.after = out.before
			return out
		}
		out.relevant = &rel
	}
	return out
}

// within returns x without a restriction to relevant paths: all differences inside it are shown. It would
// be confusing to show some changed elements of a list as unchanged.
func (x pair) within() pair {
	x.relevant = nil
	return x
}

// implicit returns x with [Nothing] in place of null.
func (x pair) implicit() pair {
	x.before, x.after, x.implied = presence(x.before), presence(x.after), true
	return x
}

func presence(v cty.Value) cty.Value {
	if v == Nothing || v.IsNull() {
		return Nothing
	}
	return v
}

// withoutEmpty returns x with null in place of an empty string, unless the object's schema is modern: see
// [isModern].
func (x pair) withoutEmpty() pair {
	if x.modern {
		return x
	}
	x.before, x.after = unlessEmpty(x.before), unlessEmpty(x.after)
	if x.implied {
		return x.implicit()
	}
	return x
}

// unlessEmpty returns v, or null if it is an empty string.
func unlessEmpty(v cty.Value) cty.Value {
	if v != Nothing && v.Type() == cty.String && v.IsKnown() && !v.IsNull() && v.AsString() == "" {
		return cty.NullVal(cty.String)
	}
	return v
}

// isNothing reports whether there is no value before and none after.
func (x pair) isNothing() bool { return x.before == Nothing && x.after == Nothing }

// start returns the action of a value with parts, without regard to the parts.
func (x pair) start() plans.Action {
	absent := func(v cty.Value) bool { return v == Nothing || v.IsNull() }
	switch {
	case absent(x.before) == absent(x.after):
		return plans.NoOp
	case absent(x.before):
		return plans.Create
	}
	return plans.Delete
}

// action returns the action of a value without parts: whether it is created, updated, deleted, or unchanged.
func (x pair) action() plans.Action {
	switch {
	case x.isNothing():
		return plans.NoOp
	case x.before == Nothing:
		return plans.Create
	case x.after == Nothing:
		return plans.Delete
	case same(x.before, x.after):
		return plans.NoOp
	}
	return plans.Update
}

// join returns the action of a value with parts. a is its action without the new part, and part is the action
// of the new part.
func join(a, part plans.Action) plans.Action {
	if part == plans.NoOp || a == part {
		return a
	}
	return plans.Update
}

// same reports whether two values are shown in the same way. Unknown values are never the same.
func same(a, b cty.Value) bool {
	if a == Nothing || b == Nothing {
		return a == b
	}
	if marks.Any(a) || marks.Any(b) {
		pa, ma := a.UnmarkDeepWithPaths()
		pb, mb := b.UnmarkDeepWithPaths()
		return pa.IsWhollyKnown() && pb.IsWhollyKnown() && len(ma) == len(mb) && pa.RawEquals(pb)
	}
	if !a.IsKnown() || !b.IsKnown() {
		return false
	}
	return a.RawEquals(b) && a.IsWhollyKnown()
}

// isSensitive reports whether v itself is marked sensitive.
func isSensitive(v cty.Value) bool { return v != Nothing && v.HasMark(marks.Sensitive) }

// withoutOwnMarks returns v without its own marks.
func withoutOwnMarks(v cty.Value) cty.Value {
	if v == Nothing {
		return v
	}
	v, _ = v.Unmark()
	return v
}

// A step leads from a value to one of its parts: by index, or by name if the index is negative.
type step struct {
	name  string
	index int
}

func named(name string) step { return step{name, -1} }
func indexed(i int) step     { return step{index: i} }

// A PathSet is a set of paths.
type PathSet []cty.Path

// ends reports whether a path of s ends at this place.
func (s PathSet) ends() bool {
	for _, p := range s {
		if len(p) == 0 {
			return true
		}
	}
	return false
}

// next returns, for each path that begins with st, the rest of the path. A path that ends before st is left
// out, unless beyond is set: then it is kept as an empty path, since it covers everything below.
func (s PathSet) next(st step, beyond bool) PathSet {
	var out PathSet
	for _, p := range s {
		switch {
		case len(p) == 0:
			if beyond {
				out = append(out, p)
			}
		case st.is(p[0]):
			out = append(out, p[1:])
		}
	}
	return out
}

// is reports whether st leads to the same part as s, a step of a path.
func (st step) is(s cty.PathStep) bool {
	switch s := s.(type) {
	case cty.GetAttrStep:
		return st == named(s.Name)
	case cty.IndexStep:
		switch k := s.Key; {
		case !k.IsKnown() || k.IsNull():
			return false
		case k.Type() == cty.String:
			return st == named(k.AsString())
		case k.Type() == cty.Number:
			i, _ := k.AsBigFloat().Int64()
			return st == indexed(int(i))
		}
	}
	return false
}
