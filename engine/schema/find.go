package schema

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// A Found is what a body has for one path in its value.
type Found struct {
	// Sources are the expressions that make the value at the path. There is none if the body does not have the
	// attribute, or no block of this kind.
	Sources []Source
	// Blocks is set if the search ended at nested blocks, so that all blocks of a kind are the source.
	Blocks bool
	// Name is the name of the attribute or of the kind of blocks where the search ended.
	Name string
	// Place is the range of the body in which an attribute or block called Name is, or could be added.
	Place hcl.Range
}

// A Source is one expression of a body.
type Source struct {
	Expr hcl.Expression
	// Rest leads from the value of Expr to the value that was searched for.
	Rest cty.Path
	// Iterators are the names of the iterators of dynamic blocks that Expr may use.
	Iterators []string
	// Range is the range of the attribute with its name.
	Range hcl.Range
}

// Find returns the expressions that make the value at p, a path in the body's value. Blocks are found by index
// and key. If a dynamic block makes some of the blocks, or if p ends at the blocks, the result has the
// expressions of all blocks of this kind.
func (x *Bound) Find(p cty.Path) Found {
	l, c := x.layout, x.raw
	out := Found{Place: rangeOf(x.body, c.place)}
	for len(p) > 0 {
		step, ok := p[0].(cty.GetAttrStep)
		if !ok {
			break
		}
		out.Name, p = step.Name, p[1:]
		for i := range l.attrs {
			if l.attrs[i].name == step.Name {
				out.Sources = c.attrs[i].sources(p, l.attrs[i].element)
				return out
			}
		}
		i := nestIndex(l, step.Name)
		if i < 0 {
			break
		}
		n := &l.blocks[i]
		block := pick(c.of(i), n.Nesting, p)
		if rest := n.Nesting.skipKey(p); block != nil && len(rest) > 0 && !c.makes(n.name) {
			l, c, p = n.in, block.content, rest
			out.Place = rangeOf(block.Body, block.DefRange)
			continue
		}
		out.Blocks = true
		for _, b := range c.of(i) {
			out.add(b.content, n.in, nil)
		}
		for _, d := range c.dyns {
			if d.block.Labels[0] == n.name {
				d.expressions(nil, out.source)
			}
		}
		break
	}
	return out
}

// All returns all expressions of the body, as the sources of its whole value.
func (x *Bound) All() Found {
	out := Found{Place: rangeOf(x.body, x.raw.place)}
	out.add(x.raw, x.layout, nil)
	return out
}

func (f *Found) add(c *content, l *layout, iterators []string) {
	c.expressions(l, iterators, f.source)
}

func (f *Found) source(e hcl.Expression, iterators []string) bool {
	f.Sources = append(f.Sources, Source{Expr: e, Iterators: slices.Clone(iterators), Range: e.Range()})
	return true
}

// makes reports whether a dynamic block makes blocks of this kind.
func (c *content) makes(kind string) bool {
	return slices.ContainsFunc(c.dyns, func(d dynamicBlock) bool { return d.block.Labels[0] == kind })
}

// sources returns the expressions of an attribute, which may be written as blocks.
func (g *given) sources(p cty.Path, element func() *layout) []Source {
	if g.attr != nil {
		return []Source{{Expr: g.attr.Expr, Rest: p, Range: g.attr.Range}}
	}
	var f Found
	for _, b := range g.blocks {
		f.add(b.content, element(), nil)
	}
	return f.Sources
}

// rangeOf returns the range of a body; otherwise, if its syntax has no such range.
func rangeOf(body hcl.Body, otherwise hcl.Range) hcl.Range {
	if b, ok := body.(*hclsyntax.Body); ok {
		return b.SrcRange
	}
	return otherwise
}
