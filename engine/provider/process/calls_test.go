//go:build unix

package process_test

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// TestFailures is a table of what providers say no to, with the attribute that they
// name.
func TestFailures(t *testing.T) {
	t.Parallel()
	lab, v5 := run(t, "lockstep/lab"), run(t, "lockstep/labv5")
	ctx := t.Context()
	for name, tc := range map[string]struct {
		call      func() diags.Diagnostics
		want      string
		attribute cty.Path
	}{
		"validate, in a block": {
			call: func() diags.Diagnostics {
				return lab.ValidateResource(ctx, "lab_thing", lab.managed("lab_thing", attrs{"name": str("a"),
					"rule": cty.ListVal([]cty.Value{cty.ObjectVal(attrs{"port": cty.NumberIntVal(-1), "host": cty.NullVal(cty.String)})})}))
			},
			want:      "Invalid port",
			attribute: cty.GetAttrPath("rule").IndexInt(0).GetAttr("port"),
		},
		"validate, legacy": {
			call: func() diags.Diagnostics {
				return v5.ValidateResource(ctx, "labv5_item", v5.managed("labv5_item", attrs{"name": str("a"), "level": cty.NumberIntVal(10)}))
			},
			want:      "must not be above 9",
			attribute: cty.GetAttrPath("level"),
		},
		"validate a data source": {
			call: func() diags.Diagnostics {
				_, ds := lab.ReadData(ctx, "lab_thing", with(lab.declared.Resource("data", "lab_thing").Block, attrs{"name": str("nobody")}), cty.NilVal)
				return ds
			},
			want:      "Thing not found",
			attribute: cty.GetAttrPath("name"),
		},
		"plan": {
			call: func() diags.Diagnostics {
				_, ds := lab.plan("lab_thing", cty.NilVal, lab.managed("lab_thing", attrs{"name": str("a"), "trouble": str("plan")}), nil)
				return ds
			},
			want: "Cannot plan",
		},
		"plan a deletion": {
			call: func() diags.Diagnostics {
				_, ds := lab.plan("lab_thing", lab.managed("lab_thing", attrs{"id": str("a-1"), "name": str("a"), "trouble": str("plan-delete")}), cty.NilVal, nil)
				return ds
			},
			want: "Cannot plan",
		},
		"create": {
			call: func() diags.Diagnostics {
				done, ds := v5.change("labv5_item", cty.NilVal, v5.managed("labv5_item", attrs{"name": str("a"), "trouble": str("create")}), nil)
				if !done.New.IsNull() {
					ds = diags.Errorf(nil, "a failed creation left something", "")
				}
				return ds
			},
			want: "create failed",
		},
		"create half way": {
			call: func() diags.Diagnostics {
				done, ds := lab.change("lab_thing", cty.NilVal, lab.managed("lab_thing", attrs{"name": str("half"), "trouble": str("create-partial")}), nil)
				if done.New.GetAttr("id").AsString() != "half-1" {
					ds = diags.Errorf(nil, "what exists is not told", "%#v", done.New)
				}
				return ds
			},
			want: "Create failed",
		},
		"import of nothing": {
			call: func() diags.Diagnostics {
				_, ds := lab.Import(ctx, provider.ImportRequest{TypeName: "lab_thing", ID: "nobody-1"})
				return ds
			},
			want: "Cannot import",
		},
		"unknown types": {
			call: func() diags.Diagnostics {
				_, ds := lab.Import(ctx, provider.ImportRequest{TypeName: "lab_nothing", ID: "x"})
				return ds
			},
			want: "lab_nothing",
		},
	} {
		ds := tc.call()
		if !ds.HasErrors() || !strings.Contains(ds.Error(), tc.want) {
			t.Errorf("%s: %v", name, ds)
			continue
		}
		if got := ds[0].Attribute; !got.Equals(tc.attribute) {
			t.Errorf("%s: the attribute is %v", name, got)
		}
	}
	ds := lab.ValidateResource(ctx, "lab_thing", lab.managed("lab_thing", attrs{"name": str("a"), "trouble": str("x")}))
	if ds.HasErrors() || len(ds) != 1 || ds[0].Severity != diags.Warning {
		t.Errorf("a deprecated attribute is answered with %v", ds)
	}
}

// TestOtherCalls tries what is not about the life of an object.
func TestOtherCalls(t *testing.T) {
	t.Parallel()
	p, v5 := run(t, "lockstep/lab"), run(t, "lockstep/labv5")
	ctx := t.Context()
	created, ds := p.change("lab_thing", cty.NilVal, p.managed("lab_thing", attrs{"name": str("a"), "color": str("red")}), nil)
	p.must(ds)

	t.Run("import", func(t *testing.T) {
		found, ds := p.Import(ctx, provider.ImportRequest{TypeName: "lab_thing", ID: "a-1"})
		p.must(ds)
		if len(found) != 1 || found[0].TypeName != "lab_thing" {
			t.Fatalf("found: %v", found)
		}
		read, ds := p.Read(ctx, provider.ReadRequest{TypeName: "lab_thing", Prior: found[0].State, Private: found[0].Private})
		p.must(ds)
		if !read.New.RawEquals(created.New) {
			t.Errorf("imported: %#v", read.New)
		}
	})
	t.Run("upgrade", func(t *testing.T) {
		for name, tc := range map[string]struct {
			p    *plugin
			req  provider.UpgradeRequest
			attr string
		}{
			"framework, same version": {p, provider.UpgradeRequest{TypeName: "lab_thing", Version: 1, JSON: []byte(`{"id":"a-1","name":"a","color":"red","no_more":1}`)}, "color"},
			"framework, old version":  {p, provider.UpgradeRequest{TypeName: "lab_thing", Version: 0, JSON: []byte(`{"id":"a-1","name":"a","colour":"red"}`)}, "color"},
			"legacy, old version":     {v5, provider.UpgradeRequest{TypeName: "labv5_item", Version: 0, JSON: []byte(`{"id":"a-1","name":"a","heading":"red"}`)}, "title"},
			"legacy, flat map":        {v5, provider.UpgradeRequest{TypeName: "labv5_item", Version: 0, Flatmap: map[string]string{"id": "a-1", "name": "a", "heading": "red"}}, "title"},
		} {
			v, ds := tc.p.UpgradeState(ctx, tc.req)
			if ds.HasErrors() || !v.GetAttr(tc.attr).RawEquals(str("red")) {
				t.Errorf("%s: %#v, %v", name, v, ds)
			}
		}
	})
	t.Run("move", func(t *testing.T) {
		got, ds := p.Move(ctx, provider.MoveRequest{SourceProvider: "registry.terraform.io/lockstep/lab", SourceType: "lab_old",
			SourceJSON: []byte(`{"id":"a-1","name":"a","colour":"red"}`), TargetType: "lab_thing"})
		p.must(ds)
		if !got.State.GetAttr("color").RawEquals(str("red")) {
			t.Errorf("moved: %#v", got.State)
		}
	})
	t.Run("data", func(t *testing.T) {
		config := with(p.declared.Resource("data", "lab_thing").Block, attrs{"name": str("a")})
		p.must(p.ValidateData(ctx, "lab_thing", config))
		got, ds := p.ReadData(ctx, "lab_thing", config, cty.NilVal)
		p.must(ds)
		if !got.GetAttr("color").RawEquals(str("red")) {
			t.Errorf("read: %#v", got)
		}
	})
	t.Run("ephemeral", func(t *testing.T) {
		config := with(p.declared.Resource("ephemeral", "lab_token").Block, attrs{"name": str("k"), "trouble": str("close")})
		p.must(p.ValidateEphemeral(ctx, "lab_token", config))
		got, ds := p.OpenEphemeral(ctx, "lab_token", config)
		p.must(ds)
		if got.RenewAt.Unix() != 4_000_000_000 || !got.Result.GetAttr("token").RawEquals(str("token of k")) {
			t.Errorf("opened: %#v", got)
		}
		again, ds := p.RenewEphemeral(ctx, "lab_token", got.Private)
		p.must(ds)
		if again.RenewAt.Unix() != 4_000_000_100 {
			t.Errorf("renewed: %#v", again)
		}
		if ds := p.CloseEphemeral(ctx, "lab_token", again.Private); !ds.HasErrors() {
			t.Error("the private data did not come through: closing was to fail")
		}
	})
	t.Run("functions", func(t *testing.T) {
		got, err := p.CallFunction(ctx, "join", []cty.Value{str("-"), str("a"), str("b")})
		if err != nil || !got.RawEquals(str("a-b")) {
			t.Errorf("join: %#v, %v", got, err)
		}
		_, err = p.CallFunction(ctx, "failing", []cty.Value{str("x")})
		fe, ok := err.(*provider.FunctionError)
		if !ok || fe.Argument != 0 || fe.Text != "this is never good enough" {
			t.Errorf("failing: %#v", err)
		}
		f := p.declared.Functions["join"]
		if f.Summary != "Joins words." || !f.Parameters[0].AllowNull || f.Variadic == nil || f.Return != cty.String {
			t.Errorf("declared: %#v", f)
		}
	})
	t.Run("provider_meta", func(t *testing.T) {
		config := p.managed("lab_thing", attrs{"name": str("m")})
		meta := with(p.declared.Meta.Block, attrs{"module": str("network")})
		plan, ds := p.plan("lab_thing", cty.NilVal, config, nil)
		p.must(ds)
		done, ds := p.Apply(ctx, provider.ApplyRequest{TypeName: "lab_thing", Prior: cty.NullVal(config.Type()), Planned: plan.Planned, Config: config, Meta: meta})
		p.must(ds)
		if got := done.New.GetAttr("module"); !got.RawEquals(str("network")) {
			t.Errorf("the provider saw %#v", got)
		}
	})
	t.Run("schema", func(t *testing.T) {
		b := p.declared.Resource("managed", "lab_thing").Block
		if p.declared.Resource("managed", "lab_thing").Version != 1 || !b.Markdown || b.Description != "A thing, for tests." {
			t.Errorf("%+v", b)
		}
		for name, tc := range map[string]struct{ got, want any }{
			"secret":      {b.Attributes["secret"].Sensitive, true},
			"password_wo": {b.Attributes["password_wo"].WriteOnly, true},
			"trouble":     {b.Attributes["trouble"].Deprecated, true},
			"region":      {b.Attributes["region"].Optional && b.Attributes["region"].Computed, true},
			"anything":    {b.Attributes["anything"].Type, cty.DynamicPseudoType},
			"shape":       {b.Attributes["shape"].Nested.Nesting, schema.NestingSingle},
			"parts":       {b.Attributes["parts"].Nested.Nesting, schema.NestingSet},
			"rule":        {b.Blocks["rule"].Nesting, schema.NestingList},
			"box":         {b.Blocks["box"].Nesting, schema.NestingSingle},
			"v5 rule":     {v5.declared.Resource("managed", "labv5_item").Block.Blocks["rule"].Nesting, schema.NestingSet},
			"v5 disk":     {v5.declared.Resource("managed", "labv5_item").Block.Blocks["disk"].MaxItems, 1},
			"v5 type":     {v5.declared.Resource("managed", "labv5_item").Block.Attributes["tags"].Type, cty.Map(cty.String)},
			"destroy":     {p.declared.PlanDestroy, true},
			"move":        {p.declared.MoveResourceState, true},
		} {
			if tc.got != tc.want {
				t.Errorf("%s: %v, want %v", name, tc.got, tc.want)
			}
		}
	})
}
