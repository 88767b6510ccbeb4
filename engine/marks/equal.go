package marks

import "github.com/zclconf/go-cty/cty"

// Equal reports whether two values are the same, with their marks. It returns the same as cty's RawEquals, which
// compares the types of a structure again at each level of it.
func Equal(a, b cty.Value) bool {
	switch {
	case a == cty.NilVal || b == cty.NilVal:
		return a == cty.NilVal && b == cty.NilVal
	case a.IsMarked() || b.IsMarked() || !a.IsKnown() || !b.IsKnown() || a.IsNull() || b.IsNull():
		return a.RawEquals(b)
	}
	ta, tb := a.Type(), b.Type()
	switch {
	case ta == cty.String && tb == cty.String:
		return a.AsString() == b.AsString()
	case ta == cty.Number && tb == cty.Number:
		// cty also takes numbers of different precision for equal that are written alike.
		return a.AsBigFloat().Cmp(b.AsBigFloat()) == 0 || a.RawEquals(b)
	case ta == cty.Bool && tb == cty.Bool:
		return a.True() == b.True()
	case ta.IsObjectType() && tb.IsObjectType() && len(ta.OptionalAttributes())+len(tb.OptionalAttributes()) == 0:
		return equalObjects(a, b)
	case ta.IsTupleType() && tb.IsTupleType():
		return equalTuples(a, b)
	}
	return a.RawEquals(b)
}

func equalObjects(a, b cty.Value) bool {
	names, others := a.Type().AttributeTypes(), b.Type().AttributeTypes()
	if len(names) != len(others) {
		return false
	}
	for name := range names {
		if _, ok := others[name]; !ok || !Equal(a.GetAttr(name), b.GetAttr(name)) {
			return false
		}
	}
	return true
}

func equalTuples(a, b cty.Value) bool {
	n := a.Type().Length()
	if n != b.Type().Length() {
		return false
	}
	for i := range n {
		if !Equal(a.Index(index(i)), b.Index(index(i))) {
			return false
		}
	}
	return true
}
