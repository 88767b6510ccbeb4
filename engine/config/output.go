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
	Deprecated    string // what callers who mention it should do instead, if it is not ""
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
