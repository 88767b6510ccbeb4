package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/internal/converting"
)

// A Variable is an input variable of a module.
type Variable struct {
	Name        string
	Description string
	// Deprecated is advice for callers that pass a value; "" if the variable is not deprecated.
	// Source: OpenTofu 1.10.
	Deprecated string
	// Type is the type constraint as written, with optional attributes; DynamicPseudoType if there is none.
	// Defaults are the defaults of optional attributes, or nil.
	Type     cty.Type
	Defaults *Defaults
	// ParseLiteral reports that values of -var and the environment are plain strings, not expressions. That
	// is so for the types string, number and bool, and for variables without a type.
	ParseLiteral bool
	// Default is converted to Type; cty.NilVal if the variable is required.
	Default cty.Value
	// DefaultExpr is the expression of Default, for showing its place; nil if the variable is required.
	DefaultExpr hcl.Expression
	Nullable    bool
	Sensitive   bool
	Ephemeral   bool
	// Const is set for a variable whose value must be known before anything is planned, so that sources of modules can be made of it.
	// Source: Terraform 1.15, OpenTofu 1.12.
	Const       bool
	Validations []*Condition
	Range       hcl.Range
	TypeRange   hcl.Range
}

// Defaults are the default values of optional() attributes. It wraps hcl/ext/typeexpr.Defaults.
type Defaults struct {
	Apply func(cty.Value) cty.Value
}

// Prepare returns the value that the module sees for a given value. It uses the default if given is
// cty.NilVal (nothing was given), or null where null is not allowed. It adds the defaults of optional
// attributes and converts the value to v's type.
//
// For a required variable without a value the error is [ErrRequired]. Prepare keeps marks; the caller adds
// those for sensitive and ephemeral variables.
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

// ErrRequired is the error for a variable without default if its value is missing, or is null although the
// variable is not nullable.
var ErrRequired = fmt.Errorf("the variable is required")
