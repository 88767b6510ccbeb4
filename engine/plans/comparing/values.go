package comparing

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/marks"
)

// values collects the differences of two values, part by part.
type values struct {
	sensitive []cty.Path
	found     []Difference
}

// compare adds the differences of approved and now, two values at the same path. hidden is true if they are
// within a sensitive value.
func (x *values) compare(path cty.Path, approved, now cty.Value, hidden bool) {
	hidden = hidden || marks.Has(approved, marks.Sensitive) || marks.Has(now, marks.Sensitive)
	approved, now = withoutOwnMarks(approved), withoutOwnMarks(now)
	switch {
	case absent(approved) && absent(now):
	case approved == cty.NilVal || now == cty.NilVal:
		x.differ(path, approved, now, hidden)
	case !approved.IsKnown():
		if !allows(approved, now) {
			x.differ(path, approved, now, hidden)
		}
	case absent(approved) || absent(now) || !now.IsKnown() || !alike(approved.Type(), now.Type()):
		x.differ(path, approved, now, hidden)
	default:
		x.contents(path, approved, now, hidden)
	}
}

// contents compares known values of the same kind: see [values.compare].
func (x *values) contents(path cty.Path, approved, now cty.Value, hidden bool) {
	switch ty := approved.Type(); {
	case ty.IsObjectType() || ty.IsMapType():
		x.members(path, approved, now, hidden)
	case ty.IsListType() || ty.IsTupleType():
		x.elements(path, approved, now, hidden)
	case ty.IsSetType():
		if !sameSet(approved, now) {
			x.differ(path, approved, now, hidden || marks.Any(approved) || marks.Any(now))
		}
	case !approved.RawEquals(now):
		x.differ(path, approved, now, hidden)
	}
}

// differ adds a difference. If hidden is set, or any part of either value is sensitive, neither value may be
// shown.
func (x *values) differ(path cty.Path, approved, now cty.Value, hidden bool) {
	d := Difference{Path: slices.Clone(path), Approved: approved, Now: now}
	for _, v := range []*cty.Value{&d.Approved, &d.Now} {
		if *v != cty.NilVal {
			hidden = hidden || marks.Any(*v)
			*v = marks.Plain(*v)
		}
	}
	touches := func(p cty.Path) bool { return p.HasPrefix(path) || path.HasPrefix(p) }
	d.Sensitive = hidden || slices.ContainsFunc(x.sensitive, touches)
	x.found = append(x.found, d)
}

// members compares objects and maps by the names of their members.
func (x *values) members(path cty.Path, approved, now cty.Value, hidden bool) {
	a, b := members(approved), members(now)
	names := maps.Clone(a)
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		step := slices.Clone(path).GetAttr(name)
		if approved.Type().IsMapType() {
			step = slices.Clone(path).IndexString(name)
		}
		_, there := a[name]
		if _, too := b[name]; there != too && approved.Type().IsMapType() {
			x.differ(step, a[name], b[name], hidden) // a difference even if the value is null
			continue
		}
		// If one of the schemas lacks an attribute, null in the other counts as equal.
		x.compare(step, a[name], b[name], hidden)
	}
}

func members(v cty.Value) map[string]cty.Value {
	out := map[string]cty.Value{}
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		out[k.AsString()] = e
	}
	return out
}

// elements compares lists and tuples by position.
func (x *values) elements(path cty.Path, approved, now cty.Value, hidden bool) {
	a, b := approved.AsValueSlice(), now.AsValueSlice()
	if len(a) != len(b) {
		x.differ(path, approved, now, hidden)
		return
	}
	for i := range a {
		x.compare(slices.Clone(path).IndexInt(i), a[i], b[i], hidden)
	}
}

// absent reports whether v is no value, or null.
func absent(v cty.Value) bool { return v == cty.NilVal || v.IsNull() }

// withoutOwnMarks returns v without its own marks. The parts of v keep theirs.
func withoutOwnMarks(v cty.Value) cty.Value {
	if v == cty.NilVal {
		return v
	}
	v, _ = v.Unmark()
	return v
}

// alike reports whether values of two types can be compared part by part.
func alike(a, b cty.Type) bool {
	for _, is := range []func(cty.Type) bool{cty.Type.IsObjectType, cty.Type.IsMapType, cty.Type.IsListType, cty.Type.IsTupleType, cty.Type.IsSetType} {
		if is(a) || is(b) {
			return is(a) && is(b)
		}
	}
	return a.Equals(b)
}

// allows reports whether an unknown value of the approved plan can have become the value now. The value now may
// also be unknown. An unknown value promises only its type, and a range.
func allows(unknown, now cty.Value) bool {
	if now.IsNull() {
		return !unknown.Range().DefinitelyNotNull()
	}
	if len(now.Type().TestConformance(unknown.Type())) > 0 {
		return false
	}
	if !now.IsKnown() || unknown.Type() == cty.DynamicPseudoType {
		return true
	}
	in := unknown.Range().Includes(marks.Plain(now))
	return !in.IsKnown() || in.True()
}

// compatible reports whether the value now may take the place of the approved value: whether comparing them
// finds no difference.
func compatible(approved, now cty.Value) bool {
	x := &values{}
	x.compare(nil, approved, now, false)
	return len(x.found) == 0
}
