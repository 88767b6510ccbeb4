package config

import "github.com/hashicorp/hcl/v2"

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

// repetition reads count and for_each.
func (r *reader) repetition(attrs hcl.Attributes) Repetition {
	if attrs["count"] != nil && attrs["for_each"] != nil {
		r.errorf(&attrs["for_each"].NameRange, `Invalid combination of "count" and "for_each"`,
			`The arguments "count" and "for_each" exclude each other: both say how many instances there are.`)
	}
	return Repetition{Count: expr(attrs["count"]), ForEach: expr(attrs["for_each"])}
}

// enabled reads the argument of that name of a lifecycle block.
func (r *reader) enabled(x *Repetition, a *hcl.Attribute) {
	if a == nil {
		return
	}
	x.Enabled = a.Expr
	other := "count"
	if x.ForEach != nil {
		other = "for_each"
	}
	if x.Count != nil || x.ForEach != nil {
		r.errorf(&a.NameRange, `Invalid combination of "`+other+`" and "enabled"`,
			"The arguments %q and \"enabled\" exclude each other: both say how many instances there are.", other)
	}
}

// override takes over what an override file says in place of what was said.
func (x *Repetition) override(by Repetition) {
	switch {
	case by.ForEach != nil && x.Count != nil:
		// Both are there then, and count decides. Source: Terraform 1.11.4.
	case len(by.Expressions()) > 0:
		*x = by
	}
}
