package config

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/converting"
	"github.com/lockstep-iac/lockstep/engine/parsing"
)

var variableSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{
		{Name: "description"}, {Name: "default"}, {Name: "type"},
		{Name: "sensitive"}, {Name: "nullable"}, {Name: "ephemeral"}, {Name: "deprecated"},
	},
	Blocks: []hcl.BlockHeaderSchema{{Type: "validation"}},
}

// reservedVariables are the names that mean something in module blocks.
var reservedVariables = map[string]bool{
	"source": true, "version": true, "providers": true, "count": true,
	"for_each": true, "lifecycle": true, "depends_on": true, "locals": true,
}

// variable reads a variable block.
func (r *reader) variable(b *hcl.Block) {
	v := &Variable{Name: b.Labels[0], Type: cty.DynamicPseudoType, Nullable: true, Range: b.DefRange, ParseLiteral: true}
	content := r.content(b.Body, variableSchema)
	r.name(b, 0, "Invalid variable name")
	if reservedVariables[v.Name] {
		r.errorf(&b.LabelRanges[0], "Invalid variable name",
			"The name %q is reserved: it means something else inside module blocks.", v.Name)
	}
	attrs := content.Attributes
	v.given = r.givenArgs(content)
	r.literal(attrs["description"], &v.Description)
	r.deprecated(attrs["deprecated"], &v.Deprecated)
	r.literal(attrs["sensitive"], &v.Sensitive)
	r.literal(attrs["nullable"], &v.Nullable)
	r.literal(attrs["ephemeral"], &v.Ephemeral)
	if a := attrs["type"]; a != nil {
		r.variableType(v, a.Expr)
	}
	if a := attrs["default"]; a != nil {
		r.variableDefault(v, a)
	}
	for _, x := range content.Blocks {
		if r.override {
			r.errorf(&x.DefRange, "Can't override validation blocks", "Validations can stand in normal files only, not in override files.")
			continue
		}
		c := r.condition(x)
		r.validation(v, c)
		v.Validations = append(v.Validations, c)
	}
	old := r.c.Variables[v.Name]
	switch {
	case r.override && old == nil:
		r.missingBase(v.Range, "Missing base variable declaration to override", "var."+v.Name)
	case r.override:
		r.overrideVariable(old, v)
	case old != nil:
		r.duplicate(v.Range, "Duplicate variable declaration", "var."+v.Name, old.Range)
	default:
		r.c.Variables[v.Name] = v
	}
}

// deprecated reads what to do instead of using a variable or an output.
func (r *reader) deprecated(a *hcl.Attribute, target *string) {
	if r.literal(a, target) && strings.TrimSpace(*target) == "" {
		r.errorf(a.Expr.Range().Ptr(), "Invalid `deprecated` value", "The argument must not be empty: it tells those who are warned what to use instead.")
	}
}

// variableType reads a type constraint.
func (r *reader) variableType(v *Variable, e hcl.Expression) {
	v.TypeRange = e.Range()
	if t, ok := e.(*hclsyntax.TemplateExpr); ok {
		r.quotedType(t)
		return
	}
	// list and map without an element type stand for list(any) and map(any), as they
	// did before types had parameters.
	switch hcl.ExprAsKeyword(e) {
	case "list":
		v.Type, v.ParseLiteral = cty.List(cty.DynamicPseudoType), false
		return
	case "map":
		v.Type, v.ParseLiteral = cty.Map(cty.DynamicPseudoType), false
		return
	}
	if d := parsing.Quoted(e); d != nil {
		r.diags = append(r.diags, d)
		return
	}
	ty, defaults, ds := typeexpr.TypeConstraintWithDefaults(e)
	r.diags = append(r.diags, ds...)
	if ds.HasErrors() {
		return
	}
	v.Type = ty
	v.ParseLiteral = ty.IsPrimitiveType()
	if defaults != nil {
		v.Defaults = &Defaults{Apply: defaults.Apply}
	}
}

const quotedTypes = "Invalid quoted type constraints"

// quotedType refuses the quoted types of old, saying what to write.
func (r *reader) quotedType(t *hclsyntax.TemplateExpr) {
	summary, instead := "Invalid legacy variable type hint", "the type without quotes"
	if v, ds := t.Value(nil); !ds.HasErrors() {
		switch v.AsString() {
		case "string":
			summary, instead = quotedTypes, "string"
		case "list":
			summary, instead = quotedTypes, "list(string)"
		case "map":
			summary, instead = quotedTypes, "map(string)"
		}
	}
	r.errorf(t.Range().Ptr(), summary,
		"Types were written in quotes up to Terraform 0.11, which is an error now. Write %s.", instead)
}

// variableDefault evaluates the default value and converts it to the type.
func (r *reader) variableDefault(v *Variable, a *hcl.Attribute) {
	val, ds := a.Expr.Value(nil)
	r.diags = append(r.diags, ds...)
	if ds.HasErrors() {
		val = cty.DynamicVal
	}
	v.defaultRange = a.Expr.Range()
	v.rawDefault = val
	if !r.override {
		v.Default = r.convertDefault(v, v.defaultRange)
	}
}

// convertDefault returns the default as a value of the variable's type; an
// override may change either of both, so that it runs again then.
func (r *reader) convertDefault(v *Variable, place hcl.Range) cty.Value {
	val := v.rawDefault
	if v.Type != cty.DynamicPseudoType || v.Defaults != nil {
		if v.Defaults != nil && !val.IsNull() {
			val = v.Defaults.Apply(val)
		}
		converted, err := converting.Convert(val, v.Type)
		if err != nil {
			r.errorf(&place, "Invalid default value for variable",
				"The default has to fit the type of the variable: %s.", err)
			converted = cty.UnknownVal(v.Type.WithoutOptionalAttributesDeep())
		}
		val = converted
	}
	if !v.Nullable && val.IsNull() {
		r.errorf(&place, "Invalid default value for variable", "The default is null, which nullable = false rules out. Leave the default out to make the variable required.")
		val = cty.UnknownVal(val.Type())
	}
	return val
}

// validation checks that a rule speaks of its variable.
func (r *reader) validation(v *Variable, c *Condition) {
	if c.Condition == nil {
		return
	}
	for _, t := range c.Condition.Variables() {
		if t.RootName() == "var" && len(t) > 1 {
			if step, ok := t[1].(hcl.TraverseAttr); ok && step.Name == v.Name {
				return
			}
		}
	}
	r.errorf(c.Condition.Range().Ptr(), "Invalid variable validation condition",
		"The condition of a validation of variable %q must refer to var.%s: it is there to test the values given to it.", v.Name, v.Name)
}

// Prepare turns a value given to v into the value that the module sees: the default
// if there is none, or null where null is not allowed; the defaults of optional
// attributes; v's type. given is cty.NilVal if nothing was given. The error of a
// required variable without a value is [ErrRequired]. Marks stay as they are, those
// for sensitive and ephemeral variables are the caller's to add.
func (v *Variable) Prepare(given cty.Value) (cty.Value, error) {
	if given == cty.NilVal || given.IsNull() && !v.Nullable {
		if v.Default == cty.NilVal {
			return cty.UnknownVal(v.Type.WithoutOptionalAttributesDeep()), ErrRequired
		}
		return v.Default, nil
	}
	if v.Defaults != nil && !given.IsNull() {
		given = v.Defaults.Apply(given)
	}
	out, err := converting.Convert(given, v.Type)
	if err != nil {
		return cty.UnknownVal(v.Type.WithoutOptionalAttributesDeep()), err
	}
	return out, nil
}

// ErrRequired says that a variable without default got no value, or null although it
// is not nullable.
var ErrRequired = fmt.Errorf("the variable is required")
