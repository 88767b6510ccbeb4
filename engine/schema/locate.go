package schema

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Locate returns the place in the body for p, a path in the body's value. It is the expression of the attribute
// at p, or of the attribute that contains the value at p. If the attribute is missing, it is the place where
// the attribute could be added. Blocks are found by index and key. For blocks in a set, and blocks made by a
// dynamic block, the result is the place of the first block of this kind.
func (x *Bound) Locate(p cty.Path) hcl.Range {
	l, c := x.layout, x.raw
	for len(p) > 0 {
		step, ok := p[0].(cty.GetAttrStep)
		if !ok {
			break
		}
		p = p[1:]
		for i := range l.attrs {
			if l.attrs[i].name == step.Name {
				return c.attrs[i].locate(p, c.place)
			}
		}
		i := nestIndex(l, step.Name)
		if i < 0 {
			break
		}
		n := &l.blocks[i]
		block := pick(c.of(i), n.Nesting, p)
		if block == nil {
			return c.dynamicPlace(n.name)
		}
		p = n.Nesting.skipKey(p)
		if len(p) == 0 {
			return block.DefRange
		}
		l, c = n.in, block.content
	}
	return c.place
}

func nestIndex(l *layout, name string) int {
	for i := range l.blocks {
		if l.blocks[i].name == name {
			return i
		}
	}
	return -1
}

// of returns the nested blocks of the i-th kind in the layout.
func (c *content) of(i int) []boundBlock {
	if c.blocks == nil {
		return nil
	}
	return c.blocks[i]
}

// locate returns the place of an attribute. If the body does not have the attribute, it returns the second
// argument.
func (g *given) locate(p cty.Path, missing hcl.Range) hcl.Range {
	switch {
	case g.attr != nil:
		return element(g.attr.Expr, p).Range()
	case len(g.blocks) == 0:
		return missing
	}
	if block := pick(g.blocks, NestingList, p); block != nil {
		return block.DefRange
	}
	return g.blocks[0].DefRange
}

// element returns the part of e, an expression of lists and objects, that p leads to. If a part on the way is
// computed, it returns that part.
func element(e hcl.Expression, p cty.Path) hcl.Expression {
	for len(p) > 0 {
		key := keyOf(p[0])
		var next hcl.Expression
		switch {
		case key == cty.NilVal || key.IsNull() || !key.IsKnown():
		case key.Type() == cty.Number:
			items, ds := hcl.ExprList(e)
			if i, _ := key.AsBigFloat().Int64(); !ds.HasErrors() && 0 <= i && i < int64(len(items)) {
				next = items[i]
			}
		case key.Type() == cty.String:
			pairs, ds := hcl.ExprMap(e)
			for _, pair := range pairs {
				if k, kds := pair.Key.Value(nil); !ds.HasErrors() && !kds.HasErrors() && k.RawEquals(key) {
					next = pair.Value
				}
			}
		}
		if next == nil {
			break
		}
		e, p = next, p[1:]
	}
	return e
}

// keyOf returns the key of a step, without marks. For an attribute, the key is its name.
func keyOf(step cty.PathStep) cty.Value {
	switch s := step.(type) {
	case cty.IndexStep:
		key, _ := s.Key.Unmark()
		return key
	case cty.GetAttrStep:
		return cty.StringVal(s.Name)
	}
	return cty.NilVal
}

// pick returns the block that the first step of p selects; nil if there is none.
func pick(blocks []boundBlock, n Nesting, p cty.Path) *boundBlock {
	if len(blocks) == 0 {
		return nil
	}
	if n == NestingSingle || n == NestingGroup || len(p) == 0 {
		return &blocks[0]
	}
	key := keyOf(p[0])
	if key == cty.NilVal || key.IsNull() || !key.IsKnown() {
		return nil
	}
	switch {
	case n == NestingList && key.Type() == cty.Number:
		i, _ := key.AsBigFloat().Int64()
		if 0 <= i && i < int64(len(blocks)) {
			return &blocks[i]
		}
	case n == NestingMap && key.Type() == cty.String:
		for i := range blocks {
			if blocks[i].Labels[0] == key.AsString() {
				return &blocks[i]
			}
		}
	}
	return nil
}

// dynamicPlace returns the place of a dynamic block for blocks of this type. If there is none, it returns
// where one could be added.
func (c *content) dynamicPlace(name string) hcl.Range {
	for _, d := range c.dyns {
		if d.block.Labels[0] == name {
			return d.block.DefRange
		}
	}
	return c.place
}
