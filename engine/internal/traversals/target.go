// Package traversals reads addresses and references from HCL expressions: the resource that a reference
// names, the target of a moved or import block, and references in quotes (old syntax) and in JSON strings.
//
// It evaluates nothing, and refuses to know blocks and modules: callers check whether an address exists.
// Start at [Target] and [Resource].
package traversals

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// Target returns the address that a traversal with only literal keys spells, such as
// module.a[0].type.name["k"].
func Target(t hcl.Traversal) (addrs.Target, hcl.Diagnostics) {
	var out addrs.Target
	bad := func(rng hcl.Range, detail string) (addrs.Target, hcl.Diagnostics) {
		return addrs.Target{}, hcl.Diagnostics{diags.HCLError(&rng, "Invalid address", "%s", detail)}
	}
	badModule := func(rng hcl.Range, detail string) (addrs.Target, hcl.Diagnostics) {
		return addrs.Target{}, hcl.Diagnostics{diags.HCLError(&rng, "Invalid address operator", "%s", detail)}
	}
	i := 0
	for i < len(t) {
		word, ok := stepName(t[i])
		if !ok || word != "module" {
			break
		}
		if i+1 == len(t) {
			return badModule(t[i].SourceRange(), `The prefix "module." must be followed by a module's name.`)
		}
		name, ok := stepName(t[i+1])
		if !ok {
			return badModule(t[i+1].SourceRange(), `The prefix "module." must be followed by a module's name.`)
		}
		i += 2
		key := addrs.NoKey
		if i < len(t) {
			if x, ok := t[i].(hcl.TraverseIndex); ok {
				if key, ok = instanceKey(x.Key); !ok {
					return badModule(x.SrcRange, badKey)
				}
				i++
			}
		}
		out.Module = out.Module.Child(name, key)
	}
	if i == len(t) {
		return out, nil
	}
	return resourceTarget(out, t[i:], bad)
}

const badKey = "An instance key must be a string or a whole number that is not negative."

func resourceTarget(out addrs.Target, t hcl.Traversal, bad func(hcl.Range, string) (addrs.Target, hcl.Diagnostics)) (addrs.Target, hcl.Diagnostics) {
	whole := t.SourceRange()
	out.Resource.Mode = addrs.Managed
	switch word, _ := stepName(t[0]); word {
	case "data":
		out.Resource.Mode, t = addrs.Data, t[1:]
	case "ephemeral":
		out.Resource.Mode, t = addrs.Ephemeral, t[1:]
	case "resource":
		t = t[1:]
	default:
		if IsKeyword(word) {
			return bad(whole, fmt.Sprintf("%q means something else than a resource type here. If it is one, write resource.%s.", word, word))
		}
	}
	if len(t) > 0 {
		whole = t.SourceRange()
	}
	if len(t) < 2 {
		return bad(whole, "A resource's type must be followed by its name.")
	}
	var ok1, ok2 bool
	out.Resource.Type, ok1 = stepName(t[0])
	out.Resource.Name, ok2 = stepName(t[1])
	for i, ok := range []bool{ok1, ok2} {
		if !ok {
			return bad(t[i].SourceRange(), "A resource type and a resource name, joined by a dot, are required.")
		}
	}
	if len(t) == 2 {
		return out, nil
	}
	x, ok := t[2].(hcl.TraverseIndex)
	if !ok || len(t) > 3 {
		return bad(t[len(t)-1].SourceRange(), "A resource's address ends with its name or an instance key in brackets.")
	}
	if out.Key, ok = instanceKey(x.Key); !ok {
		return bad(x.SrcRange, badKey)
	}
	return out, nil
}

// stepName returns the name of an attribute step or of the root. It returns false for other steps.
func stepName(t hcl.Traverser) (string, bool) {
	switch x := t.(type) {
	case hcl.TraverseRoot:
		return x.Name, true
	case hcl.TraverseAttr:
		return x.Name, true
	}
	return "", false
}

func instanceKey(v cty.Value) (addrs.InstanceKey, bool) {
	if v.IsNull() || !v.IsKnown() {
		return addrs.NoKey, false
	}
	switch v.Type() {
	case cty.String:
		return addrs.StringKey(v.AsString()), true
	case cty.Number:
		f := v.AsBigFloat()
		n, acc := f.Int64()
		if acc != 0 || n < 0 {
			return addrs.NoKey, false
		}
		return addrs.IntKey(int(n)), true
	}
	return addrs.NoKey, false
}

// ParseTarget reads an address, as [Target] does, but returns Lockstep's diagnostics instead of HCL's.
func ParseTarget(t hcl.Traversal) (addrs.Target, diags.Diagnostics) {
	out, ds := Target(t)
	return out, diags.FromHCL(ds)
}
