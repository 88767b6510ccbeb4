package config

import (
	"github.com/hashicorp/hcl/v2"
)

// A Local is a local value.
type Local struct {
	Name  string
	Expr  hcl.Expression
	Range hcl.Range
}

// An Output is an output value of a module.
type Output struct {
	Name          string
	Description   string
	Deprecated    string // advice for callers that refer to it; "" if it is not deprecated
	Expr          hcl.Expression
	Sensitive     bool
	Ephemeral     bool
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
