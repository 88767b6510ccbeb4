package session

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/schematest"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// analyze reads a configuration: a txtar archive whose comment is main.tf.
func analyze(t testing.TB, text string) (*config.Config, *refs.Refs) {
	t.Helper()
	a := txtar.Parse([]byte(text))
	files := map[string][]byte{"main.tf": a.Comment}
	for _, f := range a.Files {
		files[f.Name] = f.Data
	}
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(files)})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	rs, ds := refs.Analyze(cfg)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return cfg, rs
}

// open returns a session over a configuration and a fake provider "t".
func open(t testing.TB, files, fake string, resources map[string]cty.Value) (*Session, *providertest.Provider) {
	t.Helper()
	cfg, rs := analyze(t, files)
	p := providertest.New(t, fake)
	pool := provider.NewPool(map[addrs.Provider]provider.Factory{addrs.DefaultProvider("t"): p.Start})
	t.Cleanup(func() { pool.Close() })
	program := eval.Program{Config: cfg, Refs: rs}
	s := &Session{Environment: Environment{Program: program, Providers: pool}}
	s.Eval = eval.New(t.Context(), eval.Phase{Program: program, Resource: func(_ context.Context, a addrs.AbsResource, _ []addrs.InstanceKey) (cty.Value, diags.Diagnostics) {
		if v, ok := resources[a.String()]; ok {
			return v, nil
		}
		return cty.DynamicVal, nil
	}})
	return s, p
}

const tokens = `
provider
  token string optional
resource t_x
  id   string computed
  name string required
`

// TestClient configures each provider configuration once, whoever asks, and reports
// what is wrong with it once.
func TestClient(t *testing.T) {
	t.Parallel()
	root := addrs.AbsProviderConfig{Provider: addrs.DefaultProvider("t")}
	alias := func(name string) addrs.AbsProviderConfig {
		return addrs.AbsProviderConfig{Provider: root.Provider, Alias: name}
	}
	const files = `
provider "t" {
  token = "x"
}
provider "t" {
  alias = "unknown"
  token = t_x.a.id
}
provider "t" {
  alias = "wrong"
  token = []
}
resource "t_x" "a" {
  provider = t.other
  name     = "a"
}
provider "t" {
  alias = "other"
}
`
	for _, c := range []struct {
		name    string
		ask     addrs.AbsProviderConfig
		unknown bool
		rule    string
		want    string // the summary of what is wrong
	}{
		{"as written", root, false, "", ""},
		{"unknown values while planning", alias("unknown"), true, "", ""},
		{"unknown values at apply", alias("unknown"), false, "", "Invalid provider configuration"},
		{"a value of another type", alias("wrong"), true, "", "Incorrect attribute value type"},
		{"no such configuration", alias("gone"), true, "", "Provider configuration not present"},
		{"the provider refuses", root, true, "configure fail \"no\"", "Asked to fail"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, p := open(t, files, tokens, map[string]cty.Value{"t_x.a": cty.ObjectVal(map[string]cty.Value{"id": cty.UnknownVal(cty.String)})})
			s.Known = !c.unknown
			if c.rule != "" {
				p.On(c.rule)
			}
			first, ds := s.Client(t.Context(), c.ask)
			second, more := s.Client(t.Context(), c.ask)
			if ds.HasErrors() != (c.want != "") || more.HasErrors() != (c.want != "") || first != second {
				t.Errorf("%v %v, %v %v", first, ds, second, more)
			}
			if len(ds.Unreported()) > 0 {
				t.Errorf("the caller gets %v", ds)
			}
			var got string
			for _, d := range s.Diagnostics() {
				got += d.Summary
			}
			if got != c.want {
				t.Errorf("%q is said, want %q", got, c.want)
			}
			if n := len(p.Calls()); n > 1 {
				t.Errorf("the provider was called %d times", n)
			}
		})
	}
}

// TestEncodeDecode stores a value and reads it back: marks come back, write-only values
// are gone, and what another schema has stored is upgraded by the provider.
func TestEncodeDecode(t *testing.T) {
	t.Parallel()
	b := schematest.Block(t, `
id     string computed
name   string optional
secret string optional sensitive
pass   string optional wo
tags   map(string) optional
`)
	rs := &schema.Schema{Block: b, Version: 2}
	v := schematest.Value(t, b, `{ id = "1", name = sensitive("n"), secret = "s", pass = "p", tags = { open = "x", hidden = sensitive("y") } }`)
	o, err := Encode(v, rs, Encoding{Status: states.Tainted, Private: []byte("p"), CreateBeforeDestroy: true})
	if err != nil {
		t.Fatal(err)
	}
	if o.Status != states.Tainted || string(o.Private) != "p" || !o.CreateBeforeDestroy || o.SchemaVersion != 2 {
		t.Errorf("%+v", o)
	}
	want := `{"id":"1","name":"n","pass":null,"secret":"s","tags":{"hidden":"y","open":"x"}}`
	if diff := cmp.Diff(want, string(o.AttrsJSON)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	fresh := *o
	fresh.Value = cty.NilVal // as it comes out of a file
	s := &Session{}
	back, ds := s.Stored(addrs.AbsResourceInstance{}, rs, &fresh)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	text := `{id = "1", name = sensitive("n"), secret = sensitive("s"), tags = {"hidden" = sensitive("y"), "open" = "x"}}`
	for _, x := range []cty.Value{back, o.Value} {
		if diff := cmp.Diff(schematest.Text(b, schematest.Value(t, b, text)), schematest.Text(b, x)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	if _, err := Encode(schematest.Value(t, b, `{ id = unknown }`), rs, Encoding{}); err == nil {
		t.Error("an unknown value can be stored")
	}
}

// TestDecodeUpgrades asks the provider for what an older schema has stored, and refuses
// what a newer one has.
func TestDecodeUpgrades(t *testing.T) {
	t.Parallel()
	s, p := open(t, `resource "t_x" "a" {}`, `
resource t_x version=1
  id    string computed
  color string optional was=colour
`, nil)
	rs := p.Declared().Managed["t_x"]
	addr, _ := addrs.ParseAbsResourceInstance("t_x.a")
	v, ds := s.Decode(t.Context(), p.Client(), addr, rs, &states.Object{AttrsJSON: []byte(`{"id":"1","colour":"red"}`)})
	if ds.HasErrors() || v.GetAttr("color").AsString() != "red" {
		t.Errorf("%#v %v", v, ds)
	}
	_, ds = s.Decode(t.Context(), p.Client(), addr, rs, &states.Object{SchemaVersion: 2, AttrsJSON: []byte(`{}`)})
	if !ds.HasErrors() || ds[0].Summary != "Resource instance managed by newer provider version" {
		t.Errorf("%v", ds)
	}
}

// TestReplacePaths counts only those paths that the provider names and whose value does
// change.
func TestReplacePaths(t *testing.T) {
	t.Parallel()
	b := schematest.Block(t, "name string optional\nsize number optional\nlist list(string) optional")
	for _, c := range []struct{ prior, planned, paths, want string }{
		{`{ name = "a" }`, `{ name = "b" }`, `name size`, `.name`},
		{`{ name = "a" }`, `{ name = "a" }`, `name`, ``},
		{`{ name = "a" }`, `{ name = unknown }`, `name`, `.name`},
		{``, `{ name = "b" }`, `name`, ``},
		{`{ list = ["a"] }`, `{ list = ["a", "b"] }`, `list[0] list[1]`, `.list[1]`},
		{`{ list = ["a"] }`, `{ list = ["a"] }`, `list[7]`, `error`},
	} {
		var resp provider.PlanResponse
		resp.Planned = schematest.Value(t, b, c.planned)
		for _, text := range strings.Fields(c.paths) {
			tr, hs := hclsyntax.ParseTraversalAbs([]byte(text), "path", hcl.InitialPos)
			if hs.HasErrors() {
				t.Fatal(hs)
			}
			path, err := refs.Path(tr)
			if err != nil {
				t.Fatal(err)
			}
			resp.RequiresReplace = append(resp.RequiresReplace, path)
		}
		q := &Question{Schema: &schema.Schema{Block: b}}
		paths, ds := q.replacePaths(schematest.Value(t, b, c.prior), resp)
		got := ""
		for _, p := range paths {
			got += schema.FormatPath(p)
		}
		if ds.HasErrors() {
			got = "error"
		}
		if got != c.want {
			t.Errorf("%s -> %s, %s: %q, want %q", c.prior, c.planned, c.paths, got, c.want)
		}
	}
}

// TestReadDataContract refuses what a data source may not answer.
func TestReadDataContract(t *testing.T) {
	t.Parallel()
	b := schematest.Block(t, "name string required\nid string computed\nsecret string computed sensitive")
	cfg, _ := analyze(t, `data "t_x" "d" {}`)
	addr, _ := addrs.ParseAbsResourceInstance("data.t_x.d")
	for _, c := range []struct{ answer, want string }{
		{`{ name = "n", id = "1", secret = "s" }`, `{id = "1", name = "n", secret = sensitive("s")}`},
		{`{ name = "n", id = unknown }`, `Provider produced invalid object`},

		{``, `Provider produced invalid object`},
	} {
		s := &Session{Environment: Environment{Program: eval.Program{Config: cfg}}}
		reading := Reading{
			Client: answering{v: schematest.Value(t, b, c.answer)}, Resource: cfg.Root.Resources[addr.Resource.Resource],
			Schema: &schema.Schema{Block: b}, Addr: addrs.ResourceInstanceObject{Instance: addr},
			Config: schematest.Value(t, b, `{ name = "n" }`),
		}
		v, ds := s.ReadData(t.Context(), reading)
		got := ""
		reading.Foreseen = true
		if f, ds := s.ReadData(t.Context(), reading); strings.Contains(c.answer, "unknown") != (!ds.HasErrors() && !marks.Plain(f).IsWhollyKnown()) {
			t.Errorf("%s, foreseen: %#v, %v", c.answer, f, ds)
		}
		if ds.HasErrors() {
			got = ds[0].Summary
		} else {
			got = schematest.Text(b, v)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.answer, got, c.want)
		}
	}
}

// answering is a provider that knows one answer.
type answering struct {
	provider.Client
	v cty.Value
}

func (a answering) ReadData(context.Context, string, cty.Value, cty.Value) (cty.Value, diags.Diagnostics) {
	return a.v, nil
}
