package builtin

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/parsing"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// A function has the declaration and the implementation of one of the provider's functions. The
// implementation has one argument; every error is about that argument.
type function struct {
	declared *schema.Function
	call     func(cty.Value) (cty.Value, error)
}

// CallFunction calls one of the provider's functions. They are documented at
// https://developer.hashicorp.com/terraform/language/functions/terraform-encode_tfvars and the neighbouring
// pages.
func (terraform) CallFunction(_ context.Context, name string, args []cty.Value) (cty.Value, error) {
	var f function
	switch name {
	case "encode_tfvars":
		f = encodeTfvars
	case "decode_tfvars":
		f = decodeTfvars
	case "encode_expr":
		f = encodeExpr
	default:
		return cty.NilVal, &provider.FunctionError{Text: fmt.Sprintf("the built-in provider has no function named %q", name), Argument: -1}
	}
	if len(args) != 1 {
		return cty.NilVal, &provider.FunctionError{Text: fmt.Sprintf("%s takes one argument, not %d", name, len(args)), Argument: -1}
	}
	result, err := f.call(args[0])
	if err != nil {
		return cty.NilVal, &provider.FunctionError{Text: err.Error()}
	}
	return result, nil
}

var encodeTfvars = function{
	declared: &schema.Function{
		Summary: "Produce a string representation of an object using the syntax of `.tfvars` files",
		Parameters: []schema.Parameter{{
			Name: "value", Type: cty.DynamicPseudoType, AllowUnknown: true,
			Description: "An object (or map) of the values of variables, by name.",
		}},
		Return: cty.String,
	},
	call: func(v cty.Value) (cty.Value, error) {
		switch {
		case v.Type() == cty.DynamicPseudoType && !v.IsKnown():
			return unknownText, nil
		case v.IsNull():
			return cty.NilVal, errors.New("cannot encode a null value in tfvars syntax")
		case !keyed(v.Type()):
			return cty.NilVal, errors.New("invalid value to encode: must be an object whose attribute names will become the encoded variable names")
		case !v.IsWhollyKnown():
			return unknownText, nil
		}
		values := v.AsValueMap()
		file := hclwrite.NewEmptyFile()
		for _, name := range sortedKeys(values) {
			if !hclsyntax.ValidIdentifier(name) {
				return cty.NilVal, fmt.Errorf("invalid variable name %q: must be a valid identifier, per Terraform's rules for input variable declarations", name)
			}
			file.Body().SetAttributeValue(name, values[name])
		}
		return cty.StringVal(string(file.Bytes())), nil
	},
}

var decodeTfvars = function{
	declared: &schema.Function{
		Summary: "Parse a string containing syntax like that used in a `.tfvars` file",
		Parameters: []schema.Parameter{{
			Name: "src", Type: cty.String, AllowUnknown: true,
			Description: "The text to parse.",
		}},
		Return: cty.DynamicPseudoType,
	},
	call: func(v cty.Value) (cty.Value, error) {
		switch {
		case !v.IsKnown():
			return cty.DynamicVal, nil
		case v.IsNull():
			return cty.NilVal, errors.New("cannot decode tfvars from a null value")
		}
		file, hs := parsing.Config([]byte(v.AsString()), "<decode_tfvars argument>")
		if hs.HasErrors() {
			return cty.NilVal, fmt.Errorf("invalid tfvars syntax: %w", firstError(hs))
		}
		attrs, hs := file.Body.JustAttributes()
		if hs.HasErrors() {
			return cty.NilVal, fmt.Errorf("invalid tfvars content: %w", firstError(hs))
		}
		values := make(map[string]cty.Value, len(attrs))
		for name, attr := range attrs {
			value, hs := attr.Expr.Value(nil)
			if hs.HasErrors() {
				return cty.NilVal, fmt.Errorf("invalid expression for variable %q: %w", name, firstError(hs))
			}
			values[name] = value
		}
		return cty.ObjectVal(values), nil
	},
}

var encodeExpr = function{
	declared: &schema.Function{
		Summary: "Produce a string representation of an arbitrary value using Terraform expression syntax",
		Parameters: []schema.Parameter{{
			Name: "value", Type: cty.DynamicPseudoType, AllowUnknown: true,
			Description: "The value to write as an expression.",
		}},
		Return: cty.String,
	},
	call: func(v cty.Value) (cty.Value, error) {
		if v.IsWhollyKnown() {
			return cty.StringVal(string(hclwrite.TokensForValue(v).Bytes())), nil
		}
		// If the type is known, so is the beginning of the text. But an unknown value that may turn out to be
		// null could become the text "null".
		if ty := v.Type(); ty != cty.DynamicPseudoType && definitelyNotNull(v) {
			switch {
			case keyed(ty):
				return textBeginning("{"), nil
			case ty.IsListType() || ty.IsSetType() || ty.IsTupleType():
				return textBeginning("["), nil
			case ty == cty.String:
				return textBeginning(`"`), nil
			}
		}
		return unknownText, nil
	},
}

var unknownText = cty.UnknownVal(cty.String).RefineNotNull()

func textBeginning(prefix string) cty.Value {
	return cty.UnknownVal(cty.String).Refine().NotNull().StringPrefixFull(prefix).NewValue()
}

func definitelyNotNull(v cty.Value) bool {
	return v.IsKnown() && !v.IsNull() || !v.IsKnown() && v.Range().DefinitelyNotNull()
}

func firstError(hs hcl.Diagnostics) error {
	for _, h := range hs {
		if h.Severity == hcl.DiagError {
			return errors.New(h.Error())
		}
	}
	return hs
}

func sortedKeys(values map[string]cty.Value) []string {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
