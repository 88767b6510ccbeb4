package schema

import (
	"iter"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// A dynamicBlock is a dynamic block that is not expanded yet: the places of its expressions, and the
// references in its content.
type dynamicBlock struct {
	block           *hcl.Block
	forEach, labels *hcl.Attribute
	iterator        string
	content         *content
	in              *layout
}

// dynamicBody is the schema of a dynamic block. Nothing is required: missing arguments
// are reported when the block is expanded.
var dynamicBody = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "for_each"}, {Name: "labels"}, {Name: "iterator"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "content"}},
}

// bindDynamic reads a dynamic block for blocks of a layout. It returns false if the block cannot be expanded.
func (l *layout) bindDynamic(b *hcl.Block, how binding) (dynamicBlock, bool) {
	got, _, _ := b.Body.PartialContent(dynamicBody)
	if len(b.Labels) == 0 || got == nil {
		return dynamicBlock{}, false
	}
	d := dynamicBlock{
		block: b, forEach: got.Attributes["for_each"], labels: got.Attributes["labels"], iterator: b.Labels[0],
	}
	if a := got.Attributes["iterator"]; a != nil {
		d.iterator = hcl.ExprAsKeyword(a.Expr)
		if d.iterator == "" {
			return dynamicBlock{}, false
		}
	}
	scratch := content{attrs: make([]given, len(l.attrs)), blocks: make([][]boundBlock, len(l.blocks))}
	in, _ := scratch.placeFor(b.Labels[0], l)
	if in != nil && len(got.Blocks) > 0 {
		d.in, d.content = in, in.bind(got.Blocks[0].Body, how.within(in))
	}
	return d, true
}

// Variables returns the references in body: the values that an EvalContext must have to decode it. b is the
// body's schema. The iterators of dynamic blocks are not included.
func (b *Block) Variables(body hcl.Body) []hcl.Traversal { return b.Bind(body).Variables() }

// Variables returns the references of the bound body. The order is the same each
// time: attributes by name, then nested blocks by name and as written.
func (x *Bound) Variables() []hcl.Traversal {
	var out []hcl.Traversal
	for expr, iterators := range x.Expressions() {
		for _, t := range expr.Variables() {
			if !slices.Contains(iterators, t.RootName()) {
				out = append(out, t)
			}
		}
	}
	return out
}

// Expanded returns the references of the body after its dynamic blocks were expanded: those in the content of a dynamic
// block that makes no block are not among them.
func (x *Bound) Expanded(ctx *hcl.EvalContext) (out []hcl.Traversal) {
	x.expand(ctx).expressions(x.layout, nil, func(expr hcl.Expression, _ []string) bool {
		out = append(out, expr.Variables()...)
		return true
	})
	return out
}

// Expressions iterates over all expressions of the bound body, including for_each, labels and content of
// dynamic blocks. With each come the names of the iterators that the expression may use, outermost first. Do
// not keep the slice of names: it is reused.
func (x *Bound) Expressions() iter.Seq2[hcl.Expression, []string] {
	return func(yield func(hcl.Expression, []string) bool) {
		x.raw.expressions(x.layout, nil, yield)
	}
}

func (c *content) expressions(l *layout, iterators []string, yield func(hcl.Expression, []string) bool) bool {
	for i := range c.attrs {
		g := &c.attrs[i]
		if g.attr != nil && !yield(g.attr.Expr, iterators) {
			return false
		}
		for _, b := range g.blocks {
			if !b.content.expressions(l.attrs[i].element(), iterators, yield) {
				return false
			}
		}
	}
	for i, blocks := range c.blocks {
		for _, b := range blocks {
			if !b.content.expressions(l.blocks[i].in, iterators, yield) {
				return false
			}
		}
	}
	for _, d := range c.dyns {
		if !d.expressions(iterators, yield) {
			return false
		}
	}
	return true
}

func (d *dynamicBlock) expressions(outer []string, yield func(hcl.Expression, []string) bool) bool {
	if d.forEach != nil && !yield(d.forEach.Expr, outer) {
		return false
	}
	inner := append(slices.Clip(outer), d.iterator)
	if d.labels != nil && !yield(d.labels.Expr, inner) {
		return false
	}
	return d.content == nil || d.content.expressions(d.in, inner, yield)
}
