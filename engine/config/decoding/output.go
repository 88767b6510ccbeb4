package decoding

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/parsing"
)

var outputSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{
		{Name: "description"}, {Name: "value", Required: true}, {Name: "depends_on"},
		{Name: "sensitive"}, {Name: "ephemeral"}, {Name: "deprecated"}, {Name: "type"},
	},
	Blocks: []hcl.BlockHeaderSchema{{Type: "precondition"}, {Type: "postcondition"}},
}

// output reads an output block.
func (d *Decoder) output(b *hcl.Block) {
	o := &config.Output{Name: b.Labels[0], Range: b.DefRange}
	content := d.contentOf(b.Body, outputSchema)
	d.name(b, 0, "Invalid output name")
	attrs := content.Attributes
	given := d.givenArgs(content)
	o.Expr = expr(attrs["value"])
	if a := attrs["type"]; a != nil {
		d.outputType(o, a.Expr)
	}
	d.literal(attrs["description"], &o.Description)
	d.deprecated(attrs["deprecated"], &o.Deprecated)
	d.literal(attrs["sensitive"], &o.Sensitive)
	d.literal(attrs["ephemeral"], &o.Ephemeral)
	o.DependsOn = d.dependsOn(attrs["depends_on"])
	for _, x := range content.Blocks {
		if x.Type == "postcondition" {
			d.errorf(&x.TypeRange, "Postconditions are not allowed", "An output value can have preconditions, but no postconditions.")
			continue
		}
		o.Preconditions = append(o.Preconditions, d.condition(x))
	}
	old := d.content.Outputs[o.Name]
	switch {
	case d.override && old == nil:
		d.missingBase(o.Range, "Missing base output definition to override", "output."+o.Name)
	case d.override:
		overrideOutput(old, o, given)
	case old != nil:
		d.duplicate(o.Range, "Duplicate output definition", "output."+o.Name, old.Range)
	default:
		d.content.Outputs[o.Name] = o
	}
}

// outputType reads the type constraint of an output.
func (d *Decoder) outputType(o *config.Output, e hcl.Expression) {
	if wrong := parsing.Quoted(e); wrong != nil {
		d.add(hcl.Diagnostics{wrong})
		return
	}
	ty, defaults, ds := typeexpr.TypeConstraintWithDefaults(e)
	d.add(ds)
	if ds.HasErrors() {
		return
	}
	o.Type = ty
	if defaults != nil {
		o.Defaults = &config.Defaults{Apply: defaults.Apply}
	}
}

// locals reads a locals block.
func (d *Decoder) locals(b *hcl.Block) {
	attrs, ds := b.Body.JustAttributes()
	d.add(ds)
	for name, a := range attrs {
		if !hclsyntax.ValidIdentifier(name) {
			d.errorf(&a.NameRange, "Invalid local value name", badIdentifier)
			continue
		}
		l := &config.Local{Name: name, Expr: a.Expr, Range: a.Range}
		old := d.content.Locals[name]
		switch {
		case d.override && old == nil:
			d.missingBase(l.Range, "Missing base local value definition to override", "local."+name)
		case old != nil && !d.override:
			d.duplicate(l.Range, "Duplicate local value definition", "local."+name, old.Range)
		default:
			d.content.Locals[name] = l
		}
	}
}

var conditionSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
	{Name: "condition", Required: true}, {Name: "error_message", Required: true},
}}

// condition reads a validation, precondition, postcondition or assert block.
func (r *reader) condition(b *hcl.Block) *config.Condition {
	content, ds := b.Body.Content(conditionSchema)
	r.add(ds)
	c := &config.Condition{
		Condition:    expr(content.Attributes["condition"]),
		ErrorMessage: expr(content.Attributes["error_message"]),
		Range:        b.DefRange,
	}
	if c.Condition != nil && len(c.Condition.Variables()) == 0 {
		r.errorf(c.Condition.Range().Ptr(), "Invalid "+b.Type+" expression",
			"The condition refers to no value that could change, so that its result is always the same. Refer to a value.")
	}
	return c
}
