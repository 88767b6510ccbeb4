package config

import "github.com/hashicorp/hcl/v2"

var outputSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{
		{Name: "description"}, {Name: "value", Required: true}, {Name: "depends_on"},
		{Name: "sensitive"}, {Name: "ephemeral"}, {Name: "deprecated"},
	},
	Blocks: []hcl.BlockHeaderSchema{{Type: "precondition"}, {Type: "postcondition"}},
}

// output reads an output block.
func (r *reader) output(b *hcl.Block) {
	o := &Output{Name: b.Labels[0], Range: b.DefRange}
	content := r.content(b.Body, outputSchema)
	r.name(b, 0, "Invalid output name")
	attrs := content.Attributes
	o.given = r.givenArgs(content)
	o.Expr = expr(attrs["value"])
	r.literal(attrs["description"], &o.Description)
	r.deprecated(attrs["deprecated"], &o.Deprecated)
	r.literal(attrs["sensitive"], &o.Sensitive)
	r.literal(attrs["ephemeral"], &o.Ephemeral)
	o.DependsOn = r.dependsOn(attrs["depends_on"])
	for _, x := range content.Blocks {
		if x.Type == "postcondition" {
			r.errorf(&x.TypeRange, "Postconditions are not allowed", "An output value can have preconditions, but no postconditions.")
			continue
		}
		o.Preconditions = append(o.Preconditions, r.condition(x))
	}
	old := r.c.Outputs[o.Name]
	switch {
	case r.override && old == nil:
		r.missingBase(o.Range, "Missing base output definition to override", "output."+o.Name)
	case r.override:
		overrideOutput(old, o)
	case old != nil:
		r.duplicate(o.Range, "Duplicate output definition", "output."+o.Name, old.Range)
	default:
		r.c.Outputs[o.Name] = o
	}
}

// locals reads a locals block.
func (r *reader) locals(b *hcl.Block) {
	attrs, ds := b.Body.JustAttributes()
	r.diags = append(r.diags, ds...)
	for name, a := range attrs {
		if !validName(name) {
			r.errorf(&a.NameRange, "Invalid local value name", badIdentifier)
			continue
		}
		l := &Local{Name: name, Expr: a.Expr, Range: a.Range}
		old := r.c.Locals[name]
		switch {
		case r.override && old == nil:
			r.missingBase(l.Range, "Missing base local value definition to override", "local."+name)
		case old != nil && !r.override:
			r.duplicate(l.Range, "Duplicate local value definition", "local."+name, old.Range)
		default:
			r.c.Locals[name] = l
		}
	}
}

var conditionSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
	{Name: "condition", Required: true}, {Name: "error_message", Required: true},
}}

// condition reads a validation, precondition, postcondition or assert block.
func (r *reader) condition(b *hcl.Block) *Condition {
	content, ds := b.Body.Content(conditionSchema)
	r.diags = append(r.diags, ds...)
	c := &Condition{
		Condition:    expr(content.Attributes["condition"]),
		ErrorMessage: expr(content.Attributes["error_message"]),
		Range:        b.DefRange,
	}
	if c.Condition != nil && len(c.Condition.Variables()) == 0 {
		r.errorf(c.Condition.Range().Ptr(), "Invalid "+b.Type+" expression",
			"The condition mentions nothing whose value could change, so that its result is always the same. Let it test a value.")
	}
	return c
}
