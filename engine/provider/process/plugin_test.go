//go:build unix

package process_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
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
	return with(p.declared.Resource("managed", typeName).Block, a)
}

// plan plans what an engine would.
func (p *plugin) plan(typeName string, prior, config cty.Value, private []byte) (provider.PlanResponse, diags.Diagnostics) {
	b := p.declared.Resource("managed", typeName).Block
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
	null := cty.NullVal(p.declared.Resource("managed", typeName).Block.ImpliedType())
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
	want := with(p.declared.Resource("managed", "lab_thing").Block, attrs{
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
			if second.declared.Resource("managed", typeName) == nil {
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
