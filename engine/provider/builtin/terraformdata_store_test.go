package builtin

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// stored returns a store block: input, output, sensitive_output, version; then those of "sensitive" and "replace" that are set.
func stored(input, output, secret, version cty.Value, set ...string) cty.Value {
	attrs := map[string]cty.Value{
		"input": input, "output": output, "sensitive_output": secret, "version": version,
		"sensitive": cty.NullVal(cty.Bool), "replace": cty.NullVal(cty.Bool),
	}
	for _, name := range set {
		attrs[name] = cty.True
	}
	return cty.ObjectVal(attrs)
}

// TestPlanStore is a table of what store blocks become. The object has the ID "i" before, and the store block was.
func TestPlanStore(t *testing.T) {
	t.Parallel()
	none := cty.NullVal(storeBlock.ImpliedType())
	unknown := cty.UnknownVal(cty.String)
	v1, v2 := str("1"), str("2")
	for name, tc := range map[string]struct {
		was, config, want cty.Value
		replace           bool
	}{
		"a first block":          {none, stored(str("x"), null, null, null), stored(null, unknown, null, null), false},
		"the block is removed":   {stored(null, str("x"), null, null), none, none, false},
		"the same input":         {stored(null, str("x"), null, null), stored(str("x"), null, null, null), stored(null, str("x"), null, null), false},
		"another input":          {stored(null, str("x"), null, null), stored(str("y"), null, null, null), stored(null, unknown, null, null), false},
		"no input":               {stored(null, null, null, null), stored(noID, null, null, null), stored(null, noID, null, null), false},
		"no input any more":      {stored(null, str("x"), null, v1), stored(null, null, null, v1), stored(null, str("x"), null, v1), false},
		"kept by the version":    {stored(null, str("x"), null, v1), stored(str("y"), null, null, v1), stored(null, str("x"), null, v1), false},
		"another version":        {stored(null, str("x"), null, v1), stored(str("x"), null, null, v2), stored(null, unknown, null, v2), false},
		"a version of later":     {stored(null, str("x"), null, v1), stored(str("x"), null, null, unknown), stored(null, unknown, null, unknown), false},
		"sensitive":              {stored(null, null, str("x"), v1, "sensitive"), stored(str("y"), null, null, v2, "sensitive"), stored(null, null, unknown, v2, "sensitive"), false},
		"sensitive from now on":  {stored(null, str("x"), null, v1), stored(str("y"), null, null, v1, "sensitive"), stored(null, null, str("x"), v1, "sensitive"), false},
		"sensitive no more":      {stored(null, null, str("x"), v1, "sensitive"), stored(str("y"), null, null, v1), stored(null, str("x"), null, v1), false},
		"a change that replaces": {stored(null, str("x"), null, v1, "replace"), stored(str("x"), null, null, v2, "replace"), stored(null, unknown, null, v2, "replace"), true},
		"nothing to replace for": {stored(null, str("x"), null, v1, "replace"), stored(str("x"), null, null, v1, "replace"), stored(null, str("x"), null, v1, "replace"), false},
	} {
		prior := withStore(dataValue(str("i"), null, null, null), tc.was)
		config := withStore(dataValue(noID, null, null, null), tc.config)
		proposed := schema.ProposedNew(dataSchema.Block, prior, config)
		got, ds := New(nil).Plan(t.Context(), provider.PlanRequest{TypeName: dataType, Prior: prior, Config: config, Proposed: proposed})
		if ds.HasErrors() || !got.Planned.GetAttr("store").RawEquals(tc.want) {
			t.Errorf("%s: %v\n%#v\nwant:\n%#v", name, ds, got.Planned.GetAttr("store"), tc.want)
		}
		if (len(got.RequiresReplace) > 0) != tc.replace || got.Planned.GetAttr("id").IsKnown() == tc.replace {
			t.Errorf("%s: replace %v, id %#v", name, got.RequiresReplace, got.Planned.GetAttr("id"))
		}
		if errs := schema.AssertPlanValid(dataSchema.Block, prior, config, got.Planned); len(errs) > 0 {
			t.Errorf("%s: the plan breaks the contract: %v", name, errs)
		}
		applied, _ := New(nil).Apply(t.Context(), provider.ApplyRequest{TypeName: dataType, Prior: prior, Planned: got.Planned, Config: config})
		if errs := schema.AssertObjectCompatible(dataSchema.Block, got.Planned, applied.New); len(errs) > 0 {
			t.Errorf("%s: the result breaks the contract: %v", name, errs)
		}
		if len(dataSchema.Block.WriteOnlyValues(applied.New)) > 0 {
			t.Errorf("%s: the input is stored: %#v", name, applied.New)
		}
	}
}

// TestStoreNotKnown: what decides about the plan must be known.
func TestStoreNotKnown(t *testing.T) {
	t.Parallel()
	attrs := stored(str("x"), null, null, null).AsValueMap()
	attrs["replace"] = cty.UnknownVal(cty.Bool)
	config := withStore(dataValue(noID, null, null, null), cty.ObjectVal(attrs))
	_, ds := New(nil).Plan(t.Context(), provider.PlanRequest{TypeName: dataType, Prior: absent, Config: config, Proposed: config})
	if len(ds) != 1 || schema.FormatPath(ds[0].Attribute) != ".store.replace" {
		t.Error(ds)
	}
}

// TestOlder follows an object through the provider of Terraform 1.11, from a state that a newer one has written: no
// value has a block store.
func TestOlder(t *testing.T) {
	t.Parallel()
	p := In(language.V1_11, nil)
	declared, _ := p.Schema(t.Context())
	ty := declared.Managed[dataType].Block.ImpliedType()
	is := func(what string, v cty.Value, ds diags.Diagnostics) {
		t.Helper()
		if ds.HasErrors() || !v.Type().Equals(ty) && len(v.Type().TestConformance(ty)) > 0 {
			t.Errorf("%s: %#v, %v", what, v, ds)
		}
	}
	stored, ds := p.UpgradeState(t.Context(), provider.UpgradeRequest{TypeName: dataType,
		JSON: []byte(`{"id": "i", "input": null, "output": null, "triggers_replace": null, "store": {"input": null, "output": null, "sensitive_output": null, "version": null, "sensitive": null, "replace": null}}`)})
	is("upgraded", stored, ds)
	attrs := stored.AsValueMap()
	attrs["input"] = str("x")
	next := cty.ObjectVal(attrs)
	planned, ds := p.Plan(t.Context(), provider.PlanRequest{TypeName: dataType, Prior: stored, Proposed: next, Config: next})
	is("planned", planned.Planned, ds)
	applied, ds := p.Apply(t.Context(), provider.ApplyRequest{TypeName: dataType, Prior: stored, Planned: planned.Planned, Config: next})
	is("applied", applied.New, ds)
	if got := applied.New.GetAttr("output"); !got.RawEquals(str("x")) {
		t.Errorf("the output is %#v", got)
	}
	gone, ds := p.Plan(t.Context(), provider.PlanRequest{TypeName: dataType, Prior: stored, Proposed: cty.NullVal(ty), Config: cty.NullVal(ty)})
	is("to be deleted", gone.Planned, ds)
	deleted, ds := p.Apply(t.Context(), provider.ApplyRequest{TypeName: dataType, Prior: stored, Planned: gone.Planned, Config: cty.NullVal(ty)})
	is("deleted", deleted.New, ds)
	imported, ds := p.Import(t.Context(), provider.ImportRequest{TypeName: dataType, ID: "i"})
	is("imported", imported[0].State, ds)
	moved, ds := p.Move(t.Context(), provider.MoveRequest{SourceType: "null_resource", TargetType: dataType, SourceJSON: []byte(`{"id": "1"}`)})
	is("moved", moved.State, ds)
	if _, ds := p.Import(t.Context(), provider.ImportRequest{TypeName: "x"}); !ds.HasErrors() {
		t.Error("an unknown type is imported")
	}
}
