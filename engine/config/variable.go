package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/internal/converting"
)

// A Variable is an input of a module.
type Variable struct {
	Name        string
	Description string
	// Deprecated is advice for callers that pass a value; "" if it is not deprecated.
	// Source: OpenTofu 1.10.
	Deprecated string
	// Type is the constraint as written (DynamicPseudoType if none), with optional
	// attributes; Defaults are their defaults, or nil.
	Type     cty.Type
	Defaults *Defaults
	// ParseLiteral is set if -var and environment values are taken as strings
	// rather than parsed as expressions (string, number, bool, or no type).
	ParseLiteral bool
	// Default is converted to Type; cty.NilVal if the variable is required.
	Default   cty.Value
	Nullable  bool
	Sensitive bool
	Ephemeral bool
	// Const is set for a variable whose value must be known before anything is planned, so that sources of modules can be made of it.
	// Source: Terraform 1.15, OpenTofu 1.12.
	Const       bool
	Validations []*Condition
	Range       hcl.Range
	TypeRange   hcl.Range
}

// Defaults are the default values of optional() attributes; see
// hcl/ext/typeexpr.Defaults, which it wraps.
type Defaults struct {
	Apply func(cty.Value) cty.Value
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

// ErrRequired is the error for a variable without default that got no value, or null
// although it is not nullable.
var ErrRequired = fmt.Errorf("the variable is required")
