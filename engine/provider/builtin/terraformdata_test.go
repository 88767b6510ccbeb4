package builtin

import (
	"regexp"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

func str(s string) cty.Value { return cty.StringVal(s) }

var (
	null    = cty.NullVal(cty.DynamicPseudoType)
	noID    = cty.NullVal(cty.String)
	absent  = cty.NullVal(dataSchema.Block.ImpliedType())
	uuidish = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
)

// TestPlanData is a table of what objects become.
func TestPlanData(t *testing.T) {
	object := cty.ObjectVal(map[string]cty.Value{"a": cty.True})
	unknown := func(v cty.Value) cty.Value { return cty.UnknownVal(v.Type()) }
	for name, tc := range map[string]struct {
		prior, input, triggers cty.Value
		want                   cty.Value
		replace                bool
	}{
		"create, empty":        {absent, null, null, dataValue(unknownID, null, null, null), false},
		"create":               {absent, str("x"), null, dataValue(unknownID, str("x"), unknown(str("")), null), false},
		"create, an object":    {absent, object, str("t"), dataValue(unknownID, object, unknown(object), str("t")), false},
		"create, unknown":      {absent, cty.DynamicVal, null, dataValue(unknownID, cty.DynamicVal, cty.DynamicVal, null), false},
		"create, a typed null": {absent, noID, null, dataValue(unknownID, noID, noID, null), false},
		"nothing changes": {dataValue(str("i"), str("x"), str("x"), str("t")), str("x"), str("t"),
			dataValue(str("i"), str("x"), str("x"), str("t")), false},
		"another input": {dataValue(str("i"), str("x"), str("x"), null), str("y"), null,
			dataValue(str("i"), str("y"), unknown(str("")), null), false},
		"another type of input": {dataValue(str("i"), str("1"), str("1"), null), cty.NumberIntVal(1), null,
			dataValue(str("i"), cty.NumberIntVal(1), cty.UnknownVal(cty.Number), null), false},
		"no more input": {dataValue(str("i"), str("x"), str("x"), null), null, null,
			dataValue(str("i"), null, cty.DynamicVal, null), false},
		"no more input, another trigger": {dataValue(str("i"), str("x"), str("x"), null), null, str("u"),
			dataValue(unknownID, null, null, str("u")), true},
		"another trigger": {dataValue(str("i"), str("x"), str("x"), str("t")), str("x"), str("u"),
			dataValue(unknownID, str("x"), unknown(str("")), str("u")), true},
		"a trigger that is not known": {dataValue(str("i"), null, null, str("t")), null, unknown(str("")),
			dataValue(unknownID, null, null, unknown(str(""))), true},
		"a first trigger": {dataValue(str("i"), null, null, null), null, str("t"),
			dataValue(unknownID, null, null, str("t")), true},
	} {
		config := dataValue(noID, tc.input, null, tc.triggers)
		got, ds := New(nil).Plan(t.Context(), provider.PlanRequest{
			TypeName: dataType, Prior: tc.prior, Config: config,
			Proposed: schema.ProposedNew(dataSchema.Block, tc.prior, config),
		})
		if ds.HasErrors() {
			t.Errorf("%s: %v", name, ds)
		}
		if !got.Planned.RawEquals(tc.want) {
			t.Errorf("%s:\n%#v\nwant:\n%#v", name, got.Planned, tc.want)
		}
		if (len(got.RequiresReplace) == 1) != tc.replace {
			t.Errorf("%s: replace %v", name, got.RequiresReplace)
		}
		if errs := schema.AssertPlanValid(dataSchema.Block, tc.prior, config, got.Planned); len(errs) > 0 {
			t.Errorf("%s: the plan breaks the contract: %v", name, errs)
		}
	}
	if got, _ := New(nil).Plan(t.Context(), provider.PlanRequest{TypeName: dataType, Prior: importData("i"), Proposed: absent, Config: absent}); !got.Planned.IsNull() {
		t.Errorf("delete: %#v", got.Planned)
	}
}

// TestApplyData: what was unknown becomes known, and everything else is as planned.
func TestApplyData(t *testing.T) {
	planned := dataValue(unknownID, str("x"), cty.UnknownVal(cty.String), str("t"))
	got, ds := New(nil).Apply(t.Context(), provider.ApplyRequest{TypeName: dataType, Prior: absent, Planned: planned, Config: planned})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	if errs := schema.AssertObjectCompatible(dataSchema.Block, planned, got.New); len(errs) > 0 {
		t.Errorf("the result breaks the contract: %v", errs)
	}
	id := got.New.GetAttr("id").AsString()
	if !uuidish.MatchString(id) || !got.New.GetAttr("output").RawEquals(str("x")) {
		t.Errorf("created: %#v", got.New)
	}
	kept, _ := New(nil).Apply(t.Context(), provider.ApplyRequest{TypeName: dataType, Prior: got.New, Planned: got.New})
	if !kept.New.RawEquals(got.New) {
		t.Errorf("a plan without unknowns: %#v", kept.New)
	}
	gone, _ := New(nil).Apply(t.Context(), provider.ApplyRequest{TypeName: dataType, Prior: got.New, Planned: absent})
	if !gone.New.IsNull() {
		t.Errorf("deleted: %#v", gone.New)
	}
}

// TestUpgradeData is a table of objects as state files hold them.
func TestUpgradeData(t *testing.T) {
	for src, want := range map[string]cty.Value{
		`{"id":"i","input":null,"output":null,"triggers_replace":null}`: dataValue(str("i"), null, null, null),
		`{"id":"i"}`: dataValue(str("i"), null, null, null),
		`{"id":"i","input":{"value":"x","type":"string"},"output":{"value":"x","type":"string"}}`:                             dataValue(str("i"), str("x"), str("x"), null),
		`{"id":"i","input":{"type":"string","value":"\u003c"},"output":{"value":7,"type":"number"},"triggers_replace":null}`:  dataValue(str("i"), str("<"), cty.NumberIntVal(7), null),
		`{"id":"i","triggers_replace":{"value":["t"],"type":["tuple",["string"]]},"old":1}`:                                   dataValue(str("i"), null, null, cty.TupleVal([]cty.Value{str("t")})),
		`{"id":null,"input":{"value":null,"type":"string"},"output":{"value":{"a":[true]},"type":["map",["list","string"]]}}`: dataValue(noID, noID, cty.MapVal(map[string]cty.Value{"a": cty.ListVal([]cty.Value{str("true")})}), null),
	} {
		got, ds := New(nil).UpgradeState(t.Context(), provider.UpgradeRequest{TypeName: dataType, JSON: []byte(src)})
		if ds.HasErrors() || !got.RawEquals(want) {
			t.Errorf("%s:\n%#v\nwant:\n%#v\n%v", src, got, want, ds)
		}
	}
	for _, src := range []string{``, `[]`, `{"id":{}}`, `{"input":"x"}`, `{"output":{"value":"x","type":"strin"}}`, `{"triggers_replace":7}`} {
		if _, ds := New(nil).UpgradeState(t.Context(), provider.UpgradeRequest{TypeName: dataType, JSON: []byte(src)}); !ds.HasErrors() {
			t.Errorf("%s is accepted", src)
		}
	}
	if _, ds := New(nil).UpgradeState(t.Context(), provider.UpgradeRequest{TypeName: dataType, Flatmap: map[string]string{"id": "i"}}); !ds.HasErrors() {
		t.Error("a flat map is accepted")
	}
}

// TestMoveData: what null_resource had becomes a terraform_data of the same meaning.
func TestMoveData(t *testing.T) {
	for src, want := range map[string]cty.Value{
		`{"id":"7","triggers":null}`: importData("7"),
		`{"id":"7","triggers":{"a":"x","b":null}}`: dataValue(str("7"), null, null,
			cty.ObjectVal(map[string]cty.Value{"a": str("x"), "b": cty.NullVal(cty.String)})),
	} {
		got, ds := New(nil).Move(t.Context(), provider.MoveRequest{SourceType: "null_resource", SourceJSON: []byte(src), TargetType: dataType})
		if ds.HasErrors() || !got.State.RawEquals(want) {
			t.Errorf("%s: %#v, %v", src, got.State, ds)
		}
	}
	for _, req := range []provider.MoveRequest{
		{SourceType: "random_id", SourceJSON: []byte(`{}`), TargetType: dataType},
		{SourceType: "null_resource", SourceJSON: []byte(`{"triggers":7}`), TargetType: dataType},
		{SourceType: "null_resource", SourceJSON: []byte(`{}`), TargetType: "terraform_nothing"},
	} {
		if _, ds := New(nil).Move(t.Context(), req); !ds.HasErrors() {
			t.Errorf("%+v is accepted", req)
		}
	}
}

// TestValidateData: computed attributes cannot be set.
func TestValidateData(t *testing.T) {
	c := New(nil)
	if ds := c.ValidateResource(t.Context(), dataType, dataValue(noID, cty.DynamicVal, null, null)); len(ds) > 0 {
		t.Error(ds)
	}
	ds := c.ValidateResource(t.Context(), dataType, dataValue(str("i"), null, str("x"), null))
	if len(ds) != 2 || !ds[0].Attribute.Equals(cty.GetAttrPath("id")) || !ds[1].Attribute.Equals(cty.GetAttrPath("output")) {
		t.Errorf("%v", ds)
	}
}

// TestImportData: a read leaves what was imported as it is.
func TestImportData(t *testing.T) {
	found, ds := New(nil).Import(t.Context(), provider.ImportRequest{TypeName: dataType, ID: "i"})
	if ds.HasErrors() || len(found) != 1 {
		t.Fatal(found, ds)
	}
	read, _ := New(nil).Read(t.Context(), provider.ReadRequest{TypeName: dataType, Prior: found[0].State})
	if !read.New.RawEquals(importData("i")) {
		t.Errorf("%#v", read.New)
	}
}

// BenchmarkData is what an instance costs in a run that changes nothing, and in one
// that creates it.
func BenchmarkData(b *testing.B) {
	c, ctx := New(nil), b.Context()
	src := []byte(`{"id":"11111111-2222-3333-4444-555555555555","input":{"value":"x","type":"string"},"output":{"value":"x","type":"string"},"triggers_replace":null}`)
	config := dataValue(noID, str("x"), null, null)
	b.Run("no-op", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			v, _ := c.UpgradeState(ctx, provider.UpgradeRequest{TypeName: dataType, JSON: src})
			read, _ := c.Read(ctx, provider.ReadRequest{TypeName: dataType, Prior: v})
			c.Plan(ctx, provider.PlanRequest{TypeName: dataType, Prior: read.New, Proposed: read.New, Config: config})
		}
	})
	b.Run("create", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			plan, _ := c.Plan(ctx, provider.PlanRequest{TypeName: dataType, Prior: absent, Proposed: config, Config: config})
			c.Apply(ctx, provider.ApplyRequest{TypeName: dataType, Prior: absent, Planned: plan.Planned, Config: config})
		}
	})
}
