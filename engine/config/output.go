package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/internal/converting"
)

// A Local is a local value.
type Local struct {
	Name  string
	Expr  hcl.Expression
	Range hcl.Range
}

// An Output is an output value of a module.
type Output struct {
	Name        string
	Description string
	Deprecated  string // advice for callers that refer to the output; "" if the output is not deprecated
	Expr        hcl.Expression
	// Type is the type to which the value is converted, with Defaults for optional attributes. It is
	// cty.NilType for an output without a type.
	Type      cty.Type
	Defaults  *Defaults
	Sensitive bool
	Ephemeral bool
	// Tested is set for the outputs of a module that a test runs as the root module. They may be ephemeral:
	// assertions see the value, and neither plan nor state keeps it.
	Tested        bool
	DependsOn     []hcl.Traversal
	Preconditions []*Condition
	Range         hcl.Range
}

// A Condition is a validation, precondition, postcondition or assertion.
type Condition struct {
	Condition    hcl.Expression
	ErrorMessage hcl.Expression
	Range        hcl.Range
}

// Convert returns v converted to the output's type, with the defaults of optional attributes. It keeps marks.
func (o *Output) Convert(v cty.Value) (cty.Value, error) {
	if o.Type == cty.NilType {
		return v, nil
	}
	if o.Defaults != nil && !v.IsNull() {
		v = o.Defaults.Apply(v)
	}
	return converting.Convert(v, o.Type)
}
