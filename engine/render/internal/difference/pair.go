package difference

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// Nothing stands for no value: an argument that is not set, an element beyond the end
// of a list. In lists and maps null is something.
var Nothing = cty.NilVal

// A pair is a value before and after, at some place within an object.
type pair struct {
	before, after cty.Value
	// replace are the paths that force replacement, relative to here.
	replace PathSet
	// relevant are those that matter: other differences are not shown.
	// nil means that everything matters.
	relevant *PathSet
	// modern is set if, by its schema, the object is none of the legacy SDK's, which cannot
	// tell an empty string from none. Terraform forgets it within lists and sets.
	modern bool
	// implied is set if null is nothing here.
	implied bool
}

// here reports whether a change at this very place forces replacement.
func (x pair) here() bool { return x.replace.ends() }

// with returns the pair of a part of x.
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

// within returns x with everything in it relevant, if anything is: it would only
// confuse to show some of the elements of a list as unchanged that are not.
func (x pair) within() pair {
	x.relevant = nil
	return x
}

// implicit returns x with null taken as nothing.
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

// withoutEmpty returns x with an empty string taken as null, unless the object is modern.
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

// isNothing reports whether there is neither before nor after.
func (x pair) isNothing() bool { return x.before == Nothing && x.after == Nothing }

// start is the action of something with parts before the parts are looked at.
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

// action is the action of something without parts.
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

// join is the action of a whole that so far has the action a, with a further part.
func join(a, part plans.Action) plans.Action {
	if part == plans.NoOp || a == part {
		return a
	}
	return plans.Update
}

// same reports whether two values are shown alike. Unknown values are never the same.
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

// isSensitive reports whether v itself is marked.
func isSensitive(v cty.Value) bool { return v != Nothing && v.HasMark(marks.Sensitive) }

// bare returns v without its own marks.
func bare(v cty.Value) cty.Value {
	if v == Nothing {
		return v
	}
	v, _ = v.Unmark()
	return v
}

// A step leads from a value to a part of it: a name, or an index if that is not
// negative.
type step struct {
	name  string
	index int
}

func named(name string) step { return step{name, -1} }
func indexed(i int) step     { return step{index: i} }

// A pathSet is a set of paths.
type PathSet []cty.Path

// ends reports whether a path of s ends here.
func (s PathSet) ends() bool {
	for _, p := range s {
		if len(p) == 0 {
			return true
		}
	}
	return false
}

// next returns the rest of the paths that begin with st. With beyond, a path that
// ended stands for everything further on.
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

// is reports whether st is the step s of a path.
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
