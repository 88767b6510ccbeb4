package schema

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/internal/converting"
	"github.com/lockstep-iac/lockstep/engine/parsing"
)

// A decoder evaluates one body. Its values and diagnostics are the same as hcldec's with [Block.DecoderSpec].
// But hcldec matches each body again for every instance, which costs several times the evaluation.
type decoder struct {
	ctx    *hcl.EvalContext
	diags  hcl.Diagnostics
	budget *budget.Budget // nil if there is no limit
	size   budget.Sum
	excess *budget.Excess
}

func (d *decoder) error(subject hcl.Range, summary, detail string) {
	d.diags = append(d.diags, &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &subject,
	})
}

// object returns the value of one body.
func (d *decoder) object(l *layout, c *content) cty.Value {
	if len(c.marks) > 0 {
		start := len(d.diags)
		defer func() { parsing.Hide(d.diags[start:], d.ctx, c.marks) }()
	}
	d.diags = append(d.diags, c.diags...)
	vals := make(map[string]cty.Value, len(l.attrs)+len(l.blocks))
	for i := range l.attrs {
		f, g := &l.attrs[i], &c.attrs[i]
		switch {
		case g.attr != nil:
			vals[f.name] = d.attribute(f, g.attr)
		case len(g.blocks) > 0:
			vals[f.name] = d.attributeBlocks(f, g.blocks)
		default:
			vals[f.name] = f.null
		}
	}
	for i := range l.blocks {
		n := &l.blocks[i]
		var blocks []boundBlock
		if c.blocks != nil {
			blocks = c.blocks[i]
		}
		vals[n.name] = d.blocks(n, blocks, c.place)
	}
	return object(vals)
}

// attribute returns the value of an expression, converted to the field's type.
func (d *decoder) attribute(f *field, a *hcl.Attribute) cty.Value {
	v, ds := a.Expr.Value(d.ctx)
	d.diags = append(d.diags, ds...)
	if d.budget != nil && d.excess == nil {
		if d.excess = d.size.Add(d.budget, v); d.excess != nil {
			v = cty.DynamicVal
		}
	}
	return d.convert(f, v, a)
}

func (d *decoder) convert(f *field, v cty.Value, a *hcl.Attribute) cty.Value {
	if v.Type().Equals(f.ty) {
		return v
	}
	out, err := converting.Convert(v, f.convTy)
	if err == nil {
		return out
	}
	around := hcl.RangeBetween(a.NameRange, a.Expr.Range())
	d.diags = append(d.diags, &hcl.Diagnostic{
		Severity:    hcl.DiagError,
		Summary:     "Incorrect attribute value type",
		Detail:      fmt.Sprintf("Inappropriate value for attribute %q: %s.", f.name, err),
		Subject:     a.Expr.Range().Ptr(),
		Context:     &around,
		Expression:  a.Expr,
		EvalContext: d.ctx,
	})
	return f.unknown
}

// attributeBlocks returns the value of an attribute that is written as blocks.
func (d *decoder) attributeBlocks(f *field, blocks []boundBlock) cty.Value {
	l := f.element()
	vals := make([]cty.Value, len(blocks))
	for i, b := range blocks {
		// As in Terraform, a dynamic block with an unknown for_each is one unknown element.
		vals[i] = d.object(l, b.content)
	}
	list := cty.TupleVal(vals)
	if f.ty.ElementType().Equals(l.ty) && !l.ty.HasDynamicTypes() {
		list = cty.ListVal(vals)
	}
	// Errors about the value point to the type of the first block, since the blocks have no expression.
	at := blocks[0].TypeRange
	return d.convert(f, list, &hcl.Attribute{
		Name: f.name, NameRange: at, Range: blocks[0].DefRange,
		Expr: hcl.StaticExpr(cty.DynamicVal, at),
	})
}

// blocks returns the value of all nested blocks of one kind. place is where missing blocks could be added.
func (d *decoder) blocks(n *nest, blocks []boundBlock, place hcl.Range) cty.Value {
	switch n.Nesting {
	case NestingSingle, NestingGroup:
		return d.single(n, blocks, place)
	case NestingMap:
		return d.mapBlocks(n, blocks)
	}
	vals := make([]cty.Value, len(blocks))
	for i, b := range blocks {
		vals[i] = d.object(n.in, b.content).WithMarks(b.content.marks)
		if b.content.unknown {
			return cty.UnknownVal(n.ty)
		}
	}
	if len(vals) < n.MinItems {
		d.error(place, fmt.Sprintf("Insufficient %s blocks", n.name),
			fmt.Sprintf("At least %d %q blocks are required.", n.MinItems, n.name))
	} else if n.MaxItems > 0 && len(vals) > n.MaxItems {
		d.error(blocks[n.MaxItems].content.place, fmt.Sprintf("Too many %s blocks", n.name),
			fmt.Sprintf("No more than %d %q blocks are allowed", n.MaxItems, n.name))
	}
	switch {
	case len(vals) == 0:
		return n.empty
	case n.dynamic:
		return cty.TupleVal(vals)
	case n.Nesting == NestingSet:
		return cty.SetVal(vals)
	}
	return cty.ListVal(vals)
}

// single returns the value of a block that may occur once.
func (d *decoder) single(n *nest, blocks []boundBlock, place hcl.Range) cty.Value {
	if len(blocks) == 0 {
		if n.MinItems == 1 && n.MaxItems == 1 {
			d.error(place, fmt.Sprintf("Missing %s block", n.name),
				fmt.Sprintf("A block of type %q is required here.", n.name))
		}
		return n.empty
	}
	if len(blocks) > 1 {
		d.error(blocks[1].DefRange, fmt.Sprintf("Duplicate %s block", n.name),
			fmt.Sprintf("Only one block of type %q is allowed. Previous definition was at %s.",
				n.name, blocks[0].DefRange))
	}
	return d.object(n.in, blocks[0].content)
}

// mapBlocks returns the value of blocks whose label is their key.
func (d *decoder) mapBlocks(n *nest, blocks []boundBlock) cty.Value {
	vals := make(map[string]cty.Value, len(blocks))
	for _, b := range blocks {
		if b.content.unknown {
			return cty.UnknownVal(n.ty)
		}
		v := d.object(n.in, b.content).WithMarks(b.content.marks)
		key := b.Labels[0]
		if _, taken := vals[key]; taken {
			d.error(b.DefRange, fmt.Sprintf("Duplicate %s block", n.name),
				fmt.Sprintf("A block for %s %q was already defined. The %s labels must be unique.",
					n.name, key, n.name))
			continue
		}
		vals[key] = v
	}
	switch {
	case len(vals) == 0:
		return n.empty
	case n.dynamic:
		return cty.ObjectVal(vals)
	}
	return cty.MapVal(vals)
}
