package config

import (
	"github.com/hashicorp/hcl/v2"
)

// A Repetition determines the number of instances of a resource or a module call. Count and ForEach can make
// any number; Enabled makes one or none. At most one field is set. If none is set, there is one instance.
type Repetition struct {
	Count   hcl.Expression
	ForEach hcl.Expression
	// Enabled is the argument enabled of the lifecycle block. Source: OpenTofu 1.11.
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
