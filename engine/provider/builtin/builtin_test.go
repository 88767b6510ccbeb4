package builtin

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// oddValues returns every value of an object of the schema whose attributes are null, known or, with unknown, not known.
func oddValues(b *schema.Block, unknown bool) []cty.Value {
	out := []map[string]cty.Value{{}}
	for name, n := range b.Blocks {
		blocks := []cty.Value{n.Block.NullValue(), n.Block.EmptyValue()}
		if unknown {
			blocks = append(blocks, cty.UnknownVal(n.Block.ImpliedType()))
			attrs := n.Block.EmptyValue().AsValueMap()
			for k, v := range attrs {
				attrs[k] = cty.UnknownVal(v.Type())
			}
			blocks = append(blocks, cty.ObjectVal(attrs))
		}
		var next []map[string]cty.Value
		for _, v := range blocks {
			next = append(next, map[string]cty.Value{name: v})
		}
		out = next
	}
	for name, a := range b.Attributes {
		choices := []cty.Value{cty.NullVal(a.Type), cty.StringVal("local"), cty.StringVal("")}
		if a.Type == cty.DynamicPseudoType {
			choices = append(choices, cty.NullVal(cty.String), cty.EmptyObjectVal, cty.EmptyTupleVal, cty.MapValEmpty(cty.String), cty.ObjectVal(map[string]cty.Value{"x": cty.NullVal(cty.DynamicPseudoType)}))
		}
		if unknown {
			choices = append(choices, cty.UnknownVal(a.Type), cty.UnknownVal(cty.String))
		}
		var next []map[string]cty.Value
		for _, values := range out {
			for _, v := range choices {
				with := map[string]cty.Value{name: v}
				for k, v := range values {
					with[k] = v
				}
				next = append(next, with)
			}
		}
		out = next
	}
	var objects []cty.Value
	for _, values := range out {
		objects = append(objects, cty.ObjectVal(values))
	}
	return objects
}

// TestNoArgumentCrashes gives every argument that the provider reads as null, empty, of another type and unknown.
func TestNoArgumentCrashes(t *testing.T) {
	t.Parallel()
	p := New(func(_ context.Context, backend string, config cty.Value, workspace string) (map[string]cty.Value, error) {
		if backend == "" || workspace == "" {
			t.Errorf("the state of backend %q, workspace %q is read", backend, workspace)
		}
		return map[string]cty.Value{"a": cty.True}, nil
	})
	check := func(what string, v cty.Value, ds diags.Diagnostics) {
		t.Helper()
		if strings.Contains(ds.Error(), "crashed") {
			t.Errorf("%s of %#v: %s", what, v, ds.Error())
		}
	}
	for _, v := range oddValues(remoteStateSchema.Block, true) {
		check("validate", v, p.ValidateData(t.Context(), remoteStateType, v))
		if !v.IsWhollyKnown() {
			continue
		}
		_, ds := p.ReadData(t.Context(), remoteStateType, v, cty.NilVal)
		check("read", v, ds)
	}
	known := oddValues(dataSchema.Block, false)
	for i, v := range oddValues(dataSchema.Block, true) {
		check("validate", v, p.ValidateResource(t.Context(), dataType, v))
		for _, prior := range []cty.Value{dataSchema.Block.NullValue(), known[i%len(known)]} {
			plan, ds := p.Plan(t.Context(), provider.PlanRequest{TypeName: dataType, Prior: prior, Proposed: v, Config: v})
			check("plan", v, ds)
			_, ds = p.Apply(t.Context(), provider.ApplyRequest{TypeName: dataType, Prior: prior, Planned: plan.Planned, Config: v})
			check("apply", v, ds)
		}
	}
	for _, name := range []string{"encode_tfvars", "decode_tfvars", "encode_expr"} {
		for _, arg := range slices.Concat([]cty.Value{cty.DynamicVal, cty.NullVal(cty.DynamicPseudoType), cty.NullVal(cty.String), cty.UnknownVal(cty.String)}, known[:200]) {
			if name == "decode_tfvars" && arg.Type() != cty.String {
				continue
			}
			_, _ = p.CallFunction(t.Context(), name, []cty.Value{arg})
		}
	}
}

// TestCrash shows that a panic of the provider ends no run.
func TestCrash(t *testing.T) {
	t.Parallel()
	p := New(func(context.Context, string, cty.Value, string) (map[string]cty.Value, error) { panic("lost a key") })
	_, ds := p.ReadData(t.Context(), remoteStateType, remoteConfig(map[string]cty.Value{"backend": str("local")}), cty.NilVal)
	if !ds.HasErrors() || !strings.Contains(ds.Error(), "lost a key. This is a bug in Lockstep: please report it") {
		t.Errorf("%v", ds)
	}
}
