package schema

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// AssertObjectCompatible returns an error for each way in which actual, what became
// of an object, is not what planned said. Both are values of b's implied type
// without marks; actual may be unknown in parts, so that a second plan can be held
// against a first.
func AssertObjectCompatible(b *Block, planned, actual cty.Value) []error {
	var c resultCheck
	c.object(b.layout(), planned, actual, nil)
	return c.errs
}

// AssertValueCompatible is [AssertObjectCompatible] for any value: known parts of
// planned must be in actual unchanged, unknown ones may be anything of their type
// and within their refinements.
func AssertValueCompatible(planned, actual cty.Value) []error {
	var c resultCheck
	c.value(planned, actual, nil)
	return c.errs
}

type resultCheck struct{ errs []error }

func (c *resultCheck) errorf(path cty.Path, text string, args ...any) {
	c.errs = append(c.errs, path.NewErrorf(text, args...))
}

// object checks one body.
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
		if p.RawEquals(a) {
			continue
		}
		at := attr(path, f.name)
		if !f.Sensitive {
			c.value(p, a, at)
		} else if len(AssertValueCompatible(p, a)) > 0 {
			c.errorf(at, "inconsistent values for sensitive attribute")
		}
	}
	for i := range l.blocks {
		n := &l.blocks[i]
		p, a := planned.GetAttr(n.name), actual.GetAttr(n.name)
		if !p.RawEquals(a) {
			c.blocks(n, p, a, attr(path, n.name))
		}
	}
}

// blocks checks all the nested blocks of one kind.
func (c *resultCheck) blocks(n *nest, planned, actual cty.Value, path cty.Path) {
	if n.Nesting == NestingSingle || n.Nesting == NestingGroup {
		// An unknown block may have been none after all.
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
	c.errs = append(c.errs, correspond(planned, actual, path, func(p, a cty.Value) bool {
		var inner resultCheck
		inner.object(n.in, p, a, path)
		return len(inner.errs) == 0
	})...)
	// Elements that were unknown in part may turn out to be equal and become one;
	// they never become more.
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
	ty := planned.Type()
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
	c.errs = append(c.errs, correspond(planned, actual, path, func(p, a cty.Value) bool {
		var inner resultCheck
		inner.value(p, a, path)
		return len(inner.errs) == 0
	})...)
	if planned.LengthInt() < actual.LengthInt() {
		c.errorf(path, "length changed from %d to %d", planned.LengthInt(), actual.LengthInt())
	}
}
