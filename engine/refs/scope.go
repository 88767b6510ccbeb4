package refs

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

// A Scope says which of the names count, each, self and caller an expression may use. Only some blocks define them.
type Scope struct{ Count, Each, Self, Caller bool }

// Check returns an error for each reference to count, each, self or caller where this name is not defined.
func (s Scope) Check(ts []hcl.Traversal) diags.Diagnostics {
	var ds diags.Diagnostics
	for _, t := range ts {
		rng := subject(t, 2)
		switch root := t.RootName(); {
		case root == "count" && !s.Count:
			ds = append(ds, diags.Errorf(&rng, `Reference to "count" in non-counted context`,
				`The "count" object can only be used in "module", "resource", and "data" blocks, and only when the "count" argument is set.`)...)
		case root == "each" && !s.Each && len(t) > 1 && isAttr(t[1], "value"):
			ds = append(ds, diags.Errorf(&rng, "each.value cannot be used in this context",
				`"each.value" has a meaning only in "module" or "resource" blocks with the "for_each" argument. If that argument was removed, remove the references to it, too.`)...)
		case root == "each" && !s.Each:
			ds = append(ds, diags.Errorf(&rng, `Reference to "each" in context without for_each`,
				`The "each" object can be used only in "module" or "resource" blocks, and only when the "for_each" argument is set.`)...)
		case root == "caller" && !s.Caller:
			rng = subject(t, 1)
			ds = append(ds, diags.Errorf(&rng, `Invalid "caller" reference`,
				`The "caller" object is the resource instance that triggers an action. It can be used only in the config block of an action that was triggered by a resource.`)...)
		case root == "self" && !s.Self:
			rng = subject(t, 1)
			ds = append(ds, diags.Errorf(&rng, `Invalid "self" reference`,
				`The "self" object is not available in this context. This object can be used only in resource provisioner, connection, and postcondition blocks.`)...)
		}
	}
	return ds
}

// isAttr reports whether a step of a traversal is the attribute with this name.
func isAttr(t hcl.Traverser, name string) bool {
	a, ok := t.(hcl.TraverseAttr)
	return ok && a.Name == name
}
