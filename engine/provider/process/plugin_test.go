//go:build unix

package process_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/process"
	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// A plugin is a running real plugin.
type plugin struct {
	provider.Client
	t        *testing.T
	dir      string // its objects
	declared *schema.Provider
}

// launch is how the tests start a plugin.
func launch(t *testing.T, source string) process.Launch {
	t.Helper()
	return process.Launch{
		Name: source,
		Path: providertest.Find(t, source).Path,
		Env:  []string{"LAB_DIR=" + t.TempDir()},
	}
}

// run starts a plugin and configures it with nothing set.
func run(t *testing.T, source string) *plugin {
	t.Helper()
	return runLaunch(t, launch(t, source))
}

func runLaunch(t *testing.T, l process.Launch) *plugin {
	t.Helper()
	c, err := l.Start(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return configured(t, c, strings.TrimPrefix(l.Env[0], "LAB_DIR="))
}

func configured(t *testing.T, c provider.Client, dir string) *plugin {
	t.Helper()
	declared, ds := c.Schema(t.Context())
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	p := &plugin{Client: c, t: t, dir: dir, declared: declared}
	config := declared.Provider.Block.EmptyValue()
	p.must(c.ValidateProvider(t.Context(), config))
	p.must(c.Configure(t.Context(), config))
	return p
}

func (p *plugin) must(ds diags.Diagnostics) {
	p.t.Helper()
	if ds.HasErrors() {
		p.t.Fatal(ds)
	}
}

// pid is the plugin's process.
func (p *plugin) pid() int {
	p.t.Helper()
	entries, err := os.ReadDir(filepath.Join(p.dir, "pids"))
	if err != nil || len(entries) != 1 {
		p.t.Fatalf("the plugin's process is not known: %v", err)
	}
	pid, _ := strconv.Atoi(entries[0].Name())
	return pid
}

// whenUnderWay calls f in the background when the plugin is in a call that waits.
func (p *plugin) whenUnderWay(op string, f func()) {
	go func() {
		for p.t.Context().Err() == nil {
			if _, err := os.Stat(filepath.Join(p.dir, op+".under-way")); err == nil {
				f()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
}

// with returns a value of a block's type, null where nothing else is said.
func with(b *schema.Block, attrs map[string]cty.Value) cty.Value {
	values := b.EmptyValue().AsValueMap()
	for name, v := range attrs {
		values[name] = v
	}
	v, err := b.Coerce(cty.ObjectVal(values))
	if err != nil {
		panic(err)
	}
	return v
}

type attrs = map[string]cty.Value

// managed returns a configuration of a resource type.
func (p *plugin) managed(typeName string, a attrs) cty.Value {
	return with(p.declared.Managed[typeName].Block, a)
}

// plan plans what an engine would.
func (p *plugin) plan(typeName string, prior, config cty.Value, private []byte) (provider.PlanResponse, diags.Diagnostics) {
	b := p.declared.Managed[typeName].Block
	null := cty.NullVal(b.ImpliedType())
	if prior == cty.NilVal {
		prior = null
	}
	proposed := null
	if config == cty.NilVal {
		config = null
	} else {
		proposed = schema.ProposedNew(b, prior, config)
	}
	return p.Plan(p.t.Context(), provider.PlanRequest{TypeName: typeName, Prior: prior, Proposed: proposed, Config: config, Private: private})
}

// change plans and applies.
func (p *plugin) change(typeName string, prior, config cty.Value, private []byte) (provider.ApplyResponse, diags.Diagnostics) {
	p.t.Helper()
	plan, ds := p.plan(typeName, prior, config, private)
	p.must(ds)
	null := cty.NullVal(p.declared.Managed[typeName].Block.ImpliedType())
	if prior == cty.NilVal {
		prior = null
	}
	if config == cty.NilVal {
		config = null
	}
	return p.Apply(p.t.Context(), provider.ApplyRequest{TypeName: typeName, Prior: prior, Planned: plan.Planned, Config: config, Private: plan.Private})
}

// nothing is an object that does not exist.
var nothing cty.Value

func str(s string) cty.Value { return cty.StringVal(s) }

// TestLifeFramework follows one object of a provider built on the framework.
func TestLifeFramework(t *testing.T) {
	t.Parallel()
	p := run(t, "lockstep/lab")
	config := p.managed("lab_thing", attrs{
		"name": str("a"), "color": str("red"), "password_wo": str("hush"),
		"tags":     cty.MapVal(attrs{"k": str("v")}),
		"anything": cty.TupleVal([]cty.Value{cty.NumberIntVal(1), cty.True}),
		"shape":    cty.ObjectVal(attrs{"width": cty.NumberIntVal(3), "area": cty.NullVal(cty.Number)}),
		"parts":    cty.SetVal([]cty.Value{cty.ObjectVal(attrs{"label": str("lid")})}),
		"rule":     cty.ListVal([]cty.Value{cty.ObjectVal(attrs{"port": cty.NumberIntVal(80), "host": cty.NullVal(cty.String)})}),
	})
	p.must(p.ValidateResource(t.Context(), "lab_thing", config))

	plan, ds := p.plan("lab_thing", cty.NilVal, config, nil)
	p.must(ds)
	for _, name := range []string{"id", "tier", "region"} {
		if plan.Planned.GetAttr(name).IsKnown() {
			t.Errorf("%s is known before the creation", name)
		}
	}
	if plan.LegacyTypeSystem {
		t.Error("the framework claims to be the legacy SDK")
	}
	created, ds := p.change("lab_thing", cty.NilVal, config, nil)
	p.must(ds)
	want := with(p.declared.Managed["lab_thing"].Block, attrs{
		"id": str("a-1"), "tier": str("tier 1"), "region": str("here"),
		"name": str("a"), "color": str("red"), "tags": config.GetAttr("tags"), "anything": config.GetAttr("anything"), "parts": config.GetAttr("parts"),
		"shape": cty.ObjectVal(attrs{"width": cty.NumberIntVal(3), "area": cty.NumberIntVal(9)}),
		"rule":  cty.ListVal([]cty.Value{cty.ObjectVal(attrs{"port": cty.NumberIntVal(80), "host": str("host of a")})}),
	})
	if !created.New.RawEquals(want) {
		t.Errorf("created:\n%#v\nwant:\n%#v", created.New, want)
	}
	if len(created.Private) == 0 {
		t.Error("there is no private data")
	}

	read, ds := p.Read(t.Context(), provider.ReadRequest{TypeName: "lab_thing", Prior: created.New, Private: created.Private})
	p.must(ds)
	if !read.New.RawEquals(created.New) || !bytes.Equal(read.Private, created.Private) {
		t.Errorf("read after create: %#v", read)
	}
	other, ds := p.change("lab_thing", cty.NilVal, p.managed("lab_thing", attrs{"name": str("b")}), nil)
	p.must(ds)
	if _, ds := p.Read(t.Context(), provider.ReadRequest{TypeName: "lab_thing", Prior: created.New, Private: other.Private}); !ds.HasErrors() {
		t.Error("the provider did not get the private data as they were sent")
	}

	attributes := config.AsValueMap()
	attributes["name"], attributes["color"] = str("b"), cty.UnknownVal(cty.String)
	plan, ds = p.plan("lab_thing", read.New, cty.ObjectVal(attributes), read.Private)
	p.must(ds)
	if len(plan.RequiresReplace) != 1 || !plan.RequiresReplace[0].Equals(cty.GetAttrPath("name")) {
		t.Errorf("replacement because of %v", plan.RequiresReplace)
	}
	if color := plan.Planned.GetAttr("color"); color.IsKnown() {
		t.Errorf("an unknown value comes back as %#v", color)
	}

	attributes["name"], attributes["color"] = str("a"), str("blue")
	updated, ds := p.change("lab_thing", read.New, cty.ObjectVal(attributes), read.Private)
	p.must(ds)
	if got := updated.New.GetAttr("tier"); !got.RawEquals(str("tier 2")) {
		t.Errorf("tier after the update: %#v", got)
	}
	if _, ds = p.change("lab_thing", updated.New, cty.NilVal, updated.Private); ds.HasErrors() {
		t.Fatal(ds)
	}
	read, ds = p.Read(t.Context(), provider.ReadRequest{TypeName: "lab_thing", Prior: updated.New, Private: updated.Private})
	p.must(ds)
	if !read.New.IsNull() {
		t.Errorf("read after delete: %#v", read.New)
	}
}

// TestLifeLegacy follows one object of a provider built on the legacy SDK.
func TestLifeLegacy(t *testing.T) {
	t.Parallel()
	p := run(t, "lockstep/labv5")
	config := p.managed("labv5_item", attrs{
		"name": str("a"), "title": str("One"), "note": str("Shout"),
		"rule": cty.SetVal([]cty.Value{cty.ObjectVal(attrs{"port": cty.NumberIntVal(80), "cidr": cty.NullVal(cty.String)})}),
		"disk": cty.ListVal([]cty.Value{cty.ObjectVal(attrs{"gb": cty.NumberIntVal(5), "path": cty.NullVal(cty.String)})}),
	})
	p.must(p.ValidateResource(t.Context(), "labv5_item", config))
	plan, ds := p.plan("labv5_item", cty.NilVal, config, nil)
	p.must(ds)
	if !plan.LegacyTypeSystem {
		t.Error("the legacy SDK does not say that it is")
	}
	if level := plan.Planned.GetAttr("level"); !level.RawEquals(cty.NumberIntVal(3)) {
		t.Errorf("default of level: %#v", level)
	}
	created, ds := p.change("labv5_item", cty.NilVal, config, nil)
	p.must(ds)
	if !created.LegacyTypeSystem || created.New.GetAttr("checksum").AsString() != "sum of One" {
		t.Errorf("created: %#v", created)
	}
	disk := created.New.GetAttr("disk").AsValueSlice()[0]
	if got := disk.GetAttr("path").AsString(); got != "/dev/a-1" {
		t.Errorf("computed in a block: %s", got)
	}

	attributes := config.AsValueMap()
	attributes["note"] = str("shout")
	plan, ds = p.plan("labv5_item", created.New, cty.ObjectVal(attributes), created.Private)
	p.must(ds)
	if !plan.Planned.RawEquals(created.New) {
		t.Errorf("a suppressed difference is planned: %#v", plan.Planned)
	}
	attributes["title"] = str("Two")
	plan, ds = p.plan("labv5_item", created.New, cty.ObjectVal(attributes), created.Private)
	p.must(ds)
	if plan.Planned.GetAttr("checksum").IsKnown() {
		t.Error("the checksum of another title is known before")
	}
	attributes["name"] = str("b")
	plan, ds = p.plan("labv5_item", created.New, cty.ObjectVal(attributes), created.Private)
	p.must(ds)
	if !slicesEqual(plan.RequiresReplace, cty.GetAttrPath("name")) {
		t.Errorf("replacement because of %v", plan.RequiresReplace)
	}
	if _, ds := p.change("labv5_item", created.New, cty.NilVal, created.Private); ds.HasErrors() {
		t.Fatal(ds)
	}
}

// slicesEqual: SDKs may name a path more than once, and "id" besides.
func slicesEqual(got []cty.Path, want cty.Path) bool {
	for _, p := range got {
		if p.Equals(want) {
			return true
		}
	}
	return false
}

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
				_, ds := lab.ReadData(ctx, "lab_thing", with(lab.declared.Data["lab_thing"].Block, attrs{"name": str("nobody")}), cty.NilVal)
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
			call: func() diags.Diagnostics { _, ds := lab.Import(ctx, "lab_thing", "nobody-1"); return ds },
			want: "Cannot import",
		},
		"unknown types": {
			call: func() diags.Diagnostics { _, ds := lab.Import(ctx, "lab_nothing", "x"); return ds },
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
		found, ds := p.Import(ctx, "lab_thing", "a-1")
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
		config := with(p.declared.Data["lab_thing"].Block, attrs{"name": str("a")})
		p.must(p.ValidateData(ctx, "lab_thing", config))
		got, ds := p.ReadData(ctx, "lab_thing", config, cty.NilVal)
		p.must(ds)
		if !got.GetAttr("color").RawEquals(str("red")) {
			t.Errorf("read: %#v", got)
		}
	})
	t.Run("ephemeral", func(t *testing.T) {
		config := with(p.declared.Ephemeral["lab_token"].Block, attrs{"name": str("k"), "trouble": str("close")})
		p.must(p.ValidateEphemeral(ctx, "lab_token", config))
		got, ds := p.OpenEphemeral(ctx, "lab_token", config)
		p.must(ds)
		if got.RenewAt != 4_000_000_000 || !got.Result.GetAttr("token").RawEquals(str("token of k")) {
			t.Errorf("opened: %#v", got)
		}
		again, ds := p.RenewEphemeral(ctx, "lab_token", got.Private)
		p.must(ds)
		if again.RenewAt != 4_000_000_100 {
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
		b := p.declared.Managed["lab_thing"].Block
		if p.declared.Managed["lab_thing"].Version != 1 || !b.Markdown || b.Description != "A thing, for tests." {
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
			"v5 rule":     {v5.declared.Managed["labv5_item"].Block.Blocks["rule"].Nesting, schema.NestingSet},
			"v5 disk":     {v5.declared.Managed["labv5_item"].Block.Blocks["disk"].MaxItems, 1},
			"v5 type":     {v5.declared.Managed["labv5_item"].Block.Attributes["tags"].Type, cty.Map(cty.String)},
			"destroy":     {p.declared.PlanDestroy, true},
			"move":        {p.declared.MoveResourceState, true},
		} {
			if tc.got != tc.want {
				t.Errorf("%s: %v, want %v", name, tc.got, tc.want)
			}
		}
	})
}

// TestCrash: whatever ends a plugin in the middle of a call, the call ends too, and
// says what happened.
func TestCrash(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		source, typeName, trouble string
		kill                      bool
		want, not                 string
	}{
		"panic":         {"lockstep/lab", "lab_thing", "create-panic", false, "panic: asked to panic\n  at ", "goroutine"},
		"panic, legacy": {"lockstep/labv5", "labv5_item", "create-panic", false, "panic: asked to panic\n  at ", "goroutine"},
		"exit":          {"lockstep/lab", "lab_thing", "create-exit", false, "exit status 3", "goroutine"},
		"kill -9":       {"lockstep/lab", "lab_thing", "create-hang", true, "signal: killed", "bug in the provider"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := run(t, tc.source)
			config := p.managed(tc.typeName, attrs{"name": str("a"), "trouble": str(tc.trouble)})
			plan, ds := p.plan(tc.typeName, cty.NilVal, config, nil)
			p.must(ds)
			if tc.kill {
				pid := p.pid()
				p.whenUnderWay("create", func() { syscall.Kill(pid, syscall.SIGKILL) })
			}
			done, ds := p.Apply(t.Context(), provider.ApplyRequest{TypeName: tc.typeName, Prior: cty.NullVal(config.Type()), Planned: plan.Planned, Config: config})
			if done.New != cty.NilVal {
				t.Errorf("a plugin that died answered %#v", done.New)
			}
			text := ds.Error()
			for _, want := range []string{"Plugin did not respond", tc.source, "ApplyResourceChange", tc.want} {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in the diagnostic:\n%s", want, text)
				}
			}
			if strings.Contains(text, tc.not) {
				t.Errorf("%q is in the diagnostic:\n%s", tc.not, text)
			}
			if ds := p.ValidateResource(t.Context(), tc.typeName, config); !ds.HasErrors() {
				t.Error("a dead plugin answers")
			}
		})
	}
}

// TestStop: a call that hangs answers when the provider is stopped.
func TestStop(t *testing.T) {
	t.Parallel()
	p := run(t, "lockstep/lab")
	config := p.managed("lab_thing", attrs{"name": str("a"), "trouble": str("create-hang")})
	stopped := make(chan error)
	p.whenUnderWay("create", func() { stopped <- p.Stop(t.Context()) })
	_, ds := p.change("lab_thing", cty.NilVal, config, nil)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if !ds.HasErrors() || !strings.Contains(ds.Error(), "stopped") {
		t.Errorf("the call ended with %v", ds)
	}
}

// TestCancel: a call ends with its context, and a plugin that still hangs can be ended.
func TestCancel(t *testing.T) {
	t.Parallel()
	p := run(t, "lockstep/lab")
	config := p.managed("lab_thing", attrs{"name": str("a"), "trouble": str("create-600000")})
	plan, ds := p.plan("lab_thing", cty.NilVal, config, nil)
	p.must(ds)
	ctx, cancel := context.WithCancel(t.Context())
	p.whenUnderWay("create", cancel)
	_, ds = p.Apply(ctx, provider.ApplyRequest{TypeName: "lab_thing", Prior: cty.NullVal(config.Type()), Planned: plan.Planned, Config: config})
	if !ds.HasErrors() || ds[0].Summary != "Request cancelled" {
		t.Errorf("the call ended with %v", ds)
	}
	pid := p.pid()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("the process is still there: %v", err)
	}
}

// TestFrozen: a plugin that does not even run is killed when it is closed.
func TestFrozen(t *testing.T) {
	t.Parallel()
	p := run(t, "lockstep/lab")
	pid := p.pid()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("the process is still there: %v", err)
	}
}

// TestSharedSchema: a second process works with the schema that the first has told,
// whether its provider needs to be asked or not.
func TestSharedSchema(t *testing.T) {
	t.Parallel()
	for source, optional := range map[string]bool{"lockstep/lab": true, "lockstep/labv5": true, "hashicorp/local": false} {
		l := launch(t, source)
		first := runLaunch(t, l)
		if first.declared.SchemaOptional != optional {
			t.Errorf("%s: schema optional: %v", source, first.declared.SchemaOptional)
		}
		c, err := l.Start(t.Context(), first.declared)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		second := configured(t, c, first.dir)
		if second.declared != first.declared {
			t.Errorf("%s: the schema is not shared", source)
		}
		for typeName, a := range map[string]attrs{
			"lab_thing":  {"name": str("a")},
			"labv5_item": {"name": str("a")},
			"local_file": {"filename": str(filepath.Join(first.dir, "f")), "content": str("")},
		} {
			if second.declared.Managed[typeName] == nil {
				continue
			}
			if _, ds := second.change(typeName, cty.NilVal, second.managed(typeName, a), nil); ds.HasErrors() {
				t.Errorf("%s: %v", source, ds)
			}
		}
	}
}

// TestManyAtOnce: calls may be made by many goroutines.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	p := run(t, "lockstep/lab")
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			name := fmt.Sprint("n", i)
			done, ds := p.change("lab_thing", cty.NilVal, p.managed("lab_thing", attrs{"name": str(name)}), nil)
			if ds.HasErrors() || done.New.GetAttr("id").AsString() != name+"-1" {
				t.Errorf("%s: %#v, %v", name, done.New, ds)
			}
		})
	}
	wg.Wait()
}

// TestWithoutTLS: TF_DISABLE_PLUGIN_TLS works.
func TestWithoutTLS(t *testing.T) {
	t.Parallel()
	l := launch(t, "lockstep/labv5")
	l.DisableTLS = true
	runLaunch(t, l)
}

// TestOtherProviders: plugins that are not ours.
func TestOtherProviders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	local := run(t, "hashicorp/local")
	created, ds := local.change("local_file", cty.NilVal, local.managed("local_file", attrs{
		"content": str("hello"), "filename": str(filepath.Join(dir, "f")),
	}), nil)
	local.must(ds)
	text, err := os.ReadFile(filepath.Join(dir, "f"))
	if err != nil || string(text) != "hello" {
		t.Errorf("the file: %q, %v", text, err)
	}
	_, ds = local.change("local_file", created.New, cty.NilVal, created.Private)
	local.must(ds)

	hours := run(t, "hashicorp/time")
	got, ds := hours.change("time_static", cty.NilVal, hours.managed("time_static", attrs{"rfc3339": str("2026-11-01T12:00:00Z")}), nil)
	hours.must(ds)
	if diff := cmp.Diff("2026", got.New.GetAttr("year").AsBigFloat().String()); diff != "" {
		t.Error(diff)
	}
}
