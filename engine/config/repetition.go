package config

import (
	"github.com/hashicorp/hcl/v2"
)

// A Repetition gives the number of instances of a resource or a module call: those of count
// or for_each, or at most one with Enabled. At most one of them is not nil;
// without any there is one instance.
type Repetition struct {
	Count   hcl.Expression
	ForEach hcl.Expression
	// Enabled is the argument of the lifecycle block. Source: OpenTofu 1.11.
	Enabled hcl.Expression
}

// Expressions returns the expressions that are not nil, in the order of the fields.
func (x *Repetition) Expressions() []hcl.Expression {
	var out []hcl.Expression
	for _, e := range []hcl.Expression{x.Count, x.ForEach, x.Enabled} {
		if e != nil {
			out = append(out, e)
		}
	}
	return out
}
