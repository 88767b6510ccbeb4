package schema

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/marks"
)

// AssertObjectCompatible returns an error for each way in which actual, the object after the apply, differs
// from planned. Both are values of b's implied type. actual may have unknown parts, so that a second plan can
// be compared with a first. Marks are ignored, but sensitive values are not shown.
func AssertObjectCompatible(b *Block, planned, actual cty.Value) []error {
	var c resultCheck
	c.object(b.layout(), planned, actual, nil)
	return c.errs
}

// unmarked returns v without marks, and reports whether anything in v is sensitive.
func unmarked(v cty.Value) (cty.Value, bool) {
	if !marks.Any(v) {
		return v, false
	}
	return marks.Plain(v), marks.Contains(v, marks.Sensitive)
}

type resultCheck struct{ errs []error }

func (c *resultCheck) errorf(path cty.Path, text string, args ...any) {
	c.errs = append(c.errs, path.NewErrorf(text, args...))
}

// object checks that actual is a possible result of planned, for one body.
func (c *resultCheck) object(l *layout, planned, actual cty.Value, path cty.Path) {
	if planned.IsNull() || actual.IsNull() {
		root := ""
		if len(path) == 0 {
			root = "Root object "
		}
		switch {
		case !actual.IsNull():
			c.errorf(path, "%swas absent, but now present", root)
		case !planned.IsNull():
			c.errorf(path, "%swas present, but now absent", root)
		}
		return
	}
	for i := range l.attrs {
		f := &l.attrs[i]
		p, a := planned.GetAttr(f.name), actual.GetAttr(f.name)
		if marks.Equal(p, a) || p.RawEquals(f.unknown) && a.Type().Equals(f.ty) {
			continue // as planned, or unknown in the plan and of the right type
		}
		c.attribute(f, p, a, attr(path, f.name))
	}
	for i := range l.blocks {
		n := &l.blocks[i]
		p, a := planned.GetAttr(n.name), actual.GetAttr(n.name)
		if !p.RawEquals(a) {
			c.blocks(n, p, a, attr(path, n.name))
		}
	}
}

func (c *resultCheck) attribute(f *field, planned, actual cty.Value, path cty.Path) {
	var inner resultCheck
	planned, s1 := unmarked(planned)
	actual, s2 := unmarked(actual)
	inner.value(planned, actual, path)
	if len(inner.errs) > 0 && (s1 || s2 || f.secret(planned) || f.secret(actual)) {
		c.errorf(path, "inconsistent values for sensitive attribute")
		return
	}
	c.errs = append(c.errs, inner.errs...)
}

// secret reports whether v, a value of f, or a part of it is sensitive by the schema.
func (f *field) secret(v cty.Value) bool {
	return f.Sensitive || f.object != nil && f.object.sensitive &&
		len(f.object.collectNested(nil, f.Nested.Nesting, v, nil, sensitive)) > 0
}

// blocks checks that actual is a possible result of planned, for all nested blocks of one kind.
func (c *resultCheck) blocks(n *nest, planned, actual cty.Value, path cty.Path) {
	planned, _ = planned.Unmark()
	actual, _ = actual.Unmark()
	if n.Nesting == NestingSingle || n.Nesting == NestingGroup {
		// If the planned block is unknown, there may be no block in the end.
		if planned.IsKnown() || !actual.IsNull() {
			c.object(n.in, planned, actual, path)
		}
		return
	}
	if !planned.IsKnown() || !actual.IsKnown() || planned.IsNull() || actual.IsNull() {
		return
	}
	switch {
	case n.Nesting == NestingSet:
		c.setBlocks(n, planned, actual, path)
	case planned.Type().IsObjectType():
		c.objectBlocks(n, planned, actual, path)
	case planned.LengthInt() != actual.LengthInt():
		c.errorf(path, "block count changed from %d to %d", planned.LengthInt(), actual.LengthInt())
	default:
		for step, p := range n.Nesting.elements(planned) {
			if a := at(actual, step); a != cty.NilVal {
				c.object(n.in, p, a, extend(path, step))
			}
		}
	}
}

func (c *resultCheck) objectBlocks(n *nest, planned, actual cty.Value, path cty.Path) {
	for step, p := range n.Nesting.elements(planned) {
		if a := at(actual, step); a == cty.NilVal {
			c.errorf(path, "block key %s has vanished", stepKey(step))
		} else {
			c.object(n.in, p, a, extend(path, step))
		}
	}
	for step := range n.Nesting.elements(actual) {
		if at(planned, step) == cty.NilVal {
			c.errorf(path, "new block key %s has appeared", stepKey(step))
		}
	}
}

func (c *resultCheck) setBlocks(n *nest, planned, actual cty.Value, path cty.Path) {
	c.errs = append(c.errs, correspond(planned, actual, n.in.sensitive, path, func(p, a cty.Value) bool {
		var inner resultCheck
		inner.object(n.in, p, a, path)
		return len(inner.errs) == 0
	})...)
	// Elements that were partly unknown may turn out to be equal and become one element; the number of
	// elements never grows.
	if planned.LengthInt() < actual.LengthInt() {
		c.errorf(path, "block set length changed from %d to %d", planned.LengthInt(), actual.LengthInt())
	}
}

// value checks the value of an attribute, or a part of one.
func (c *resultCheck) value(planned, actual cty.Value, path cty.Path) {
	if planned.Type() == cty.DynamicPseudoType {
		return
	}
	if problems := actual.Type().TestConformance(planned.Type()); len(problems) > 0 {
		c.errorf(path, "wrong final value type: %s", convert.MismatchMessage(actual.Type(), planned.Type()))
		return
	}
	switch {
	case !planned.IsKnown():
		if in := planned.Range().Includes(actual); in.IsKnown() && in.False() {
			c.errorf(path, "final value %#v does not conform to planning placeholder %#v", actual, planned)
		}
	case planned.IsNull() && actual.IsNull():
	case actual.IsNull():
		c.errorf(path, "was %#v, but now null", planned)
	case planned.IsNull():
		c.errorf(path, "was null, but now %#v", actual)
	case !actual.IsKnown():
		c.errorf(path, "was known, but now unknown")
	default:
		c.known(planned, actual, path)
	}
}

// known checks that actual is a possible result of planned. Both are known and not null.
func (c *resultCheck) known(planned, actual cty.Value, path cty.Path) {
	switch ty := planned.Type(); {
	case ty.IsPrimitiveType():
		if !actual.RawEquals(planned) {
			c.errorf(path, "was %#v, but now %#v", planned, actual)
		}
	case ty.IsSetType():
		c.set(planned, actual, path)
	case ty.IsObjectType():
		for _, name := range sortedNames(ty) {
			c.value(planned.GetAttr(name), actual.GetAttr(name), attr(path, name))
		}
	case ty.IsListType() || ty.IsMapType() || ty.IsTupleType():
		c.elements(planned, actual, path)
	}
}

func (c *resultCheck) elements(planned, actual cty.Value, path cty.Path) {
	for it := planned.ElementIterator(); it.Next(); {
		k, p := it.Element()
		if !actual.HasIndex(k).True() {
			c.errorf(path, "element %s has vanished", formatKey(k))
			continue
		}
		c.value(p, actual.Index(k), extend(path, cty.IndexStep{Key: k}))
	}
	for it := actual.ElementIterator(); it.Next(); {
		if k, _ := it.Element(); !planned.HasIndex(k).True() {
			c.errorf(path, "new element %s has appeared", formatKey(k))
		}
	}
}

func (c *resultCheck) set(planned, actual cty.Value, path cty.Path) {
	c.errs = append(c.errs, correspond(planned, actual, false, path, func(p, a cty.Value) bool {
		var inner resultCheck
		inner.value(p, a, path)
		return len(inner.errs) == 0
	})...)
	if planned.LengthInt() < actual.LengthInt() {
		c.errorf(path, "length changed from %d to %d", planned.LengthInt(), actual.LengthInt())
	}
}

// correspond compares the planned set a with the resulting set b. It returns an error for each element of one
// set that matches no element of the other set. If secret is set, the errors do not show elements.
func correspond(a, b cty.Value, secret bool, path cty.Path, match func(a, b cty.Value) bool) []error {
	as, bs := a.AsValueSlice(), b.AsValueSlice()
	aok, bok := make([]bool, len(as)), make([]bool, len(bs))
	for i := range as {
		for j := range bs {
			if (!aok[i] || !bok[j]) && match(as[i], bs[j]) {
				aok[i], bok[j] = true, true
			}
		}
	}
	show := func(v cty.Value) string {
		if secret || marks.Contains(v, marks.Sensitive) {
			return "(sensitive value)"
		}
		return fmt.Sprintf("%#v", v)
	}
	var errs []error
	for i, ok := range aok {
		if !ok {
			errs = append(errs, path.NewErrorf("planned set element %s does not correlate with any element in actual", show(as[i])))
		}
	}
	if len(errs) > 0 {
		return errs // the other direction would report the same differences again
	}
	for i, ok := range bok {
		if !ok {
			errs = append(errs, path.NewErrorf("actual set element %s does not correlate with any element in plan", show(bs[i])))
		}
	}
	return errs
}
