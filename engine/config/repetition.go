package config

import (
	"github.com/hashicorp/hcl/v2"
)

// A Repetition says how many instances a resource or a module call has: those that count
// or for_each makes, or at most one, if Enabled says so. At most one of them is not nil;
// without any there is one instance.
type Repetition struct {
	Count   hcl.Expression
	ForEach hcl.Expression
	// Enabled is the argument of the lifecycle block. Source: OpenTofu 1.11.
	Enabled hcl.Expression
}

// Expressions returns what is written, in the order of the fields.
func (x *Repetition) Expressions() []hcl.Expression {
	var out []hcl.Expression
	for _, e := range []hcl.Expression{x.Count, x.ForEach, x.Enabled} {
		if e != nil {
			out = append(out, e)
		}
	}
	return out
}
