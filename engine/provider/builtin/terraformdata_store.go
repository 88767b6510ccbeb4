package builtin

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// storeBlock describes the block store of a terraform_data. The block keeps in the state a value that may be
// ephemeral: the argument input is write-only, and output, or sensitive_output with sensitive = true, repeats
// it. The block takes over a new input when version changes, or, without a version, whenever input changes.
// With replace = true such a change replaces the object.
//
// Source: Terraform 1.16, https://developer.hashicorp.com/terraform/language/resources/terraform-data
var storeBlock = &schema.Block{Attributes: map[string]*schema.Attribute{
	"input":            {Type: cty.DynamicPseudoType, Optional: true, WriteOnly: true},
	"output":           {Type: cty.DynamicPseudoType, Computed: true},
	"sensitive_output": {Type: cty.DynamicPseudoType, Computed: true, Sensitive: true},
	"version":          {Type: cty.DynamicPseudoType, Optional: true},
	"sensitive":        {Type: cty.Bool, Optional: true},
	"replace":          {Type: cty.Bool, Optional: true},
}}

// planStore returns the planned value of a store block, and whether the change replaces the object. prior is
// the value of the whole object before the change, or null.
func planStore(prior, proposed cty.Value) (next cty.Value, replaces bool, ds diags.Diagnostics) {
	if proposed.IsNull() || !proposed.IsKnown() {
		return proposed, false, nil
	}
	next = proposed
	for _, name := range []string{"sensitive", "replace"} {
		if !proposed.GetAttr(name).IsKnown() {
			ds = append(ds, diags.Diagnostic{
				Severity: diags.Error, Summary: "Value is not known before the apply", Attribute: cty.GetAttrPath("store").GetAttr(name),
				Detail: fmt.Sprintf("The argument %q of a store block decides what is planned. Give it a value that does not depend on objects which are still to be created.", name),
			})
		}
	}
	if len(ds) > 0 {
		return next, false, ds
	}
	was := cty.NullVal(storeBlock.ImpliedType())
	if !prior.IsNull() {
		was = prior.GetAttr("store")
	}
	null := cty.NullVal(cty.DynamicPseudoType)
	kept, version := null, null
	if !was.IsNull() && was.IsKnown() {
		version = was.GetAttr("version")
		if kept = was.GetAttr("output"); kept.IsNull() {
			kept = was.GetAttr("sensitive_output")
		}
	}
	input, wanted := proposed.GetAttr("input"), proposed.GetAttr("version")
	changed := !marks.Equal(kept, input)
	if !wanted.IsKnown() || !wanted.IsNull() {
		changed = !wanted.RawEquals(version)
	}
	out := kept
	switch {
	case input.IsNull() && kept.IsNull():
		out, changed = input, false
	case changed:
		out = cty.UnknownVal(input.Type())
	}
	attrs := proposed.AsValueMap()
	attrs["input"], attrs["output"], attrs["sensitive_output"] = null, out, null
	if isTrue(attrs["sensitive"]) {
		attrs["output"], attrs["sensitive_output"] = null, out
	}
	return cty.ObjectVal(attrs), changed && !prior.IsNull() && isTrue(attrs["replace"]), nil
}

// applyStore replaces the unknown output of a planned store block with the input. Only the configuration of
// the object has the input.
func applyStore(planned, config cty.Value) cty.Value {
	if planned.IsNull() || !planned.IsKnown() || planned.IsWhollyKnown() {
		return planned
	}
	attrs := planned.AsValueMap()
	for _, name := range []string{"output", "sensitive_output"} {
		if !attrs[name].IsKnown() {
			attrs[name] = config.GetAttr("store").GetAttr("input")
		}
	}
	return cty.ObjectVal(attrs)
}

func isTrue(v cty.Value) bool { return v.IsKnown() && !v.IsNull() && v.True() }
