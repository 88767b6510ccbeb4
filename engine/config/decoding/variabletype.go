package decoding

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/internal/converting"
	"github.com/lockstep-iac/lockstep/engine/parsing"
)

// typeConstraint reads a type constraint. It also decides how values on the command line and in
// the environment are read: literally for the primitive types, as expressions for the others.
func (v *variable) typeConstraint(e hcl.Expression) {
	v.TypeRange = e.Range()
	if t, ok := e.(*hclsyntax.TemplateExpr); ok {
		v.quotedType(t)
		return
	}
	// list and map without an element type mean list(any) and map(any), as they did before types had
	// parameters.
	switch hcl.ExprAsKeyword(e) {
	case "list":
		v.Type, v.ParseLiteral = cty.List(cty.DynamicPseudoType), false
		return
	case "map":
		v.Type, v.ParseLiteral = cty.Map(cty.DynamicPseudoType), false
		return
	}
	if d := parsing.Quoted(e); d != nil {
		v.diags = append(v.diags, d)
		return
	}
	ty, defaults, ds := typeexpr.TypeConstraintWithDefaults(e)
	v.add(ds)
	if ds.HasErrors() {
		return
	}
	v.Type = ty
	v.ParseLiteral = ty.IsPrimitiveType()
	if defaults != nil {
		v.Defaults = &config.Defaults{Apply: defaults.Apply}
	}
}

const quotedTypes = "Invalid quoted type constraints"

// quotedType refuses a type in quotes, as old configurations have it. The message shows the modern form.
func (v *variable) quotedType(t *hclsyntax.TemplateExpr) {
	summary, instead := "Invalid legacy variable type hint", "the type without quotes"
	if x, ds := t.Value(nil); !ds.HasErrors() {
		switch x.AsString() {
		case "string":
			summary, instead = quotedTypes, "string"
		case "list":
			summary, instead = quotedTypes, "list(string)"
		case "map":
			summary, instead = quotedTypes, "map(string)"
		}
	}
	v.errorf(t.Range().Ptr(), summary,
		"Types were written in quotes up to Terraform 0.11, which is an error now. Write %s.", instead)
}

// defaultValue evaluates the default value and converts it to the type.
func (v *variable) defaultValue(a *hcl.Attribute) {
	val, ds := a.Expr.Value(nil)
	v.add(ds)
	if ds.HasErrors() {
		val = cty.DynamicVal
	}
	v.defaultRange = a.Expr.Range()
	v.rawDefault = val
	if !v.override {
		v.Default = v.convertDefault(v.defaultRange)
	}
}

// convertDefault returns the default as a value of the variable's type. An override may change
// the default or the type, so the raw default is kept and converted again then.
func (v *variable) convertDefault(place hcl.Range) cty.Value {
	val := v.rawDefault
	if v.Type != cty.DynamicPseudoType || v.Defaults != nil {
		if v.Defaults != nil && !val.IsNull() {
			val = v.Defaults.Apply(val)
		}
		converted, err := converting.Convert(val, v.Type)
		if err != nil {
			v.errorf(&place, "Invalid default value for variable",
				"The default has to fit the type of the variable: %s.", err)
			converted = cty.UnknownVal(v.Type.WithoutOptionalAttributesDeep())
		}
		val = converted
	}
	if !v.Nullable && val.IsNull() {
		v.errorf(&place, "Invalid default value for variable", "The default is null, which nullable = false rules out. Leave the default out to make the variable required.")
		val = cty.UnknownVal(val.Type())
	}
	return val
}

// validation checks that a validation rule refers to its variable.
func (v *variable) validation(c *config.Condition) {
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
	v.errorf(c.Condition.Range().Ptr(), "Invalid variable validation condition",
		"The condition of a validation of variable %q must refer to var.%s: it is there to test the values given to it.", v.Name, v.Name)
}
