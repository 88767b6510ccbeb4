package schema

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/dynblock"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// A Bound is a body of configuration matched with the block that describes it. The match, which expression
// belongs to which attribute, is made once for all instances. A Bound is immutable, and its methods are safe
// for concurrent use.
type Bound struct {
	layout *layout
	body   hcl.Body
	raw    *content
}

// Bind matches body with b. [Bound.Decode] reports problems of the match: unsupported and missing arguments.
func (b *Block) Bind(body hcl.Body) *Bound {
	l := b.layout()
	return &Bound{layout: l, body: body, raw: l.bind(body, binding{legacy: !l.modern, raw: true})}
}

// Decode evaluates body in ctx and returns a value of b's implied type, as
// [Bound.Decode] does. Callers with several instances of one body use [Block.Bind].
func (b *Block) Decode(body hcl.Body, ctx *hcl.EvalContext) (cty.Value, diags.Diagnostics) {
	return b.Bind(body).Decode(ctx)
}

// Decode evaluates the body in ctx, dynamic blocks included, and returns a value
// that conforms to the block's implied type. Marks of the values in ctx stay on
// the results. If there are errors, the value is the best that could be
// made: unknown where an expression failed.
//
// The diagnostics are HCL's own: Unsupported argument, Missing required argument, Incorrect attribute value
// type, Insufficient X blocks and so on. Deprecated arguments are not reported here: providers report them
// when they validate.
func (x *Bound) Decode(ctx *hcl.EvalContext) (cty.Value, diags.Diagnostics) {
	c := x.raw
	b := budget.Of(ctx)
	if c.dynamic {
		c = x.expand(ctx)
	}
	d := decoder{ctx: ctx, budget: b}
	v := d.object(x.layout, c)
	if b != nil {
		d.diags = append(d.diags, d.tooLarge(x.raw.place)...)
	}
	return v, diags.FromHCL(d.diags)
}

// expand returns the content of the body with its dynamic blocks expanded in ctx.
func (x *Bound) expand(ctx *hcl.EvalContext) *content {
	count := &blockCount{b: budget.Of(ctx)}
	return x.layout.bind(dynblock.Expand(x.body, ctx, dynblock.OptCheckForEach(count.check)), binding{legacy: !x.layout.modern})
}

// A content is a body matched with a layout.
type content struct {
	attrs  []given         // in the order of layout.attrs
	blocks [][]boundBlock  // in the order of layout.blocks
	diags  hcl.Diagnostics // diagnostics of the match, without nested bodies
	place  hcl.Range       // where a missing argument or block could be added
	dyns   []dynamicBlock  // dynamic blocks, if not yet expanded
	// dynamic is set if this body, or a body within it, has dynamic blocks.
	dynamic bool
	// unknown is set if this body represents an unknown number of blocks. marks are the marks of the value
	// that decides the number.
	unknown bool
	marks   cty.ValueMarks
}

// given is an attribute in a body: an expression, or blocks written instead of the attribute, or nothing.
type given struct {
	attr   *hcl.Attribute
	blocks []boundBlock
}

// A boundBlock is a nested block.
type boundBlock struct {
	*hcl.Block
	content *content
}

// binding is how to read a body. If legacy is set, attributes may be written as blocks. If raw is set,
// dynamic blocks are not expanded yet.
type binding struct{ legacy, raw bool }

// bind matches body with l.
func (l *layout) bind(body hcl.Body, how binding) *content {
	c := &content{attrs: make([]given, len(l.attrs)), place: body.MissingItemRange()}
	if u, ok := body.(hcldec.UnknownBody); ok {
		c.unknown = u.Unknown()
	}
	if m, ok := body.(hcldec.MarkedBody); ok {
		c.marks = m.BodyValueMarks()
	}
	got, ds := body.Content(l.bodySchemaFor(body, how.legacy, how.raw))
	c.diags = ds
	if got == nil {
		got = &hcl.BodyContent{}
	}
	for i := range l.attrs {
		c.attrs[i].attr = got.Attributes[l.attrs[i].name]
	}
	if len(got.Blocks) > 0 {
		c.addBlocks(got.Blocks, l, how)
	}
	return c
}

func (c *content) addBlocks(blocks hcl.Blocks, l *layout, how binding) {
	c.blocks = make([][]boundBlock, len(l.blocks))
	for _, b := range blocks {
		if how.raw && b.Type == dynamicHeader.Type {
			if d, ok := l.bindDynamic(b, how); ok {
				c.dyns = append(c.dyns, d)
			}
			c.dynamic = true
			continue
		}
		in, list := c.placeFor(b.Type, l)
		if in == nil {
			continue
		}
		x := boundBlock{b, in.bind(b.Body, how.within(in))}
		c.dynamic = c.dynamic || x.content.dynamic
		*list = append(*list, x)
	}
}

// within returns how to read a nested body. The parameter in is the layout of the nested body; h is how the
// outer body is read.
func (h binding) within(in *layout) binding {
	h.legacy = h.legacy && !in.modern
	return h
}

// placeFor returns the list that blocks of this type are collected in, and the blocks' layout.
func (c *content) placeFor(name string, l *layout) (*layout, *[]boundBlock) {
	for i := range l.blocks {
		if l.blocks[i].name == name {
			return l.blocks[i].in, &c.blocks[i]
		}
	}
	for i := range l.attrs {
		if l.attrs[i].name == name && l.attrs[i].element != nil {
			return l.attrs[i].element(), &c.attrs[i].blocks
		}
	}
	return nil, nil
}
