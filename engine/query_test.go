package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
)

const queryProvider = `
resource lab_thing
  id    string computed keep
  name  string required identity
  color string optional
  pass  string optional sensitive
resource lab_plain
  id    string computed keep
resource lab_sized
  id   string computed keep
  name string required identity
  size number optional
list lab_thing
  color string optional
list lab_plain
list lab_sized
`

// A queryRun is a query of some files.
type queryRun struct {
	t         *testing.T
	provider  *providertest.Provider
	run       engine.Run
	loadError diags.Diagnostics
}

func newQueryRun(t *testing.T, query string, resources ...string) *queryRun {
	t.Helper()
	q := &queryRun{t: t, provider: providertest.New(t, queryProvider)}
	files := map[string][]byte{"main.tf": []byte("variable \"color\" {\n  default = \"red\"\n}\nresource \"lab_thing\" \"r\" {\n  name = \"r\"\n}\n"), "find.tfquery.hcl": []byte(query)}
	for _, name := range resources {
		files[name+".tf"] = fmt.Appendf(nil, "resource \"lab_thing\" %q {\n  name = %[1]q\n}\n", name)
	}
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(files), Queries: true})
	q.loadError = ds
	variables, _ := inputs.Values(cfg.Root.Content, nil)
	pool := provider.NewPool(map[addrs.Provider]provider.Factory{addrs.DefaultProvider("lab"): q.provider.Start})
	t.Cleanup(func() { pool.Close() })
	q.run = engine.Run{Config: cfg, Providers: pool, Variables: variables}
	return q
}

// play returns the steps and the errors as lines.
func (q *queryRun) play(generate bool, most int) []string {
	q.t.Helper()
	var out []string
	ds := q.loadError
	if !ds.HasErrors() {
		ds = engine.Query(q.t.Context(), q.run, engine.QueryOptions{Generate: generate, Tell: func(e events.Query) bool {
			switch e.Kind {
			case events.QueryStart:
				out = append(out, strings.TrimSpace("start "+e.Address))
			case events.QueryFound:
				line := fmt.Sprintf("found %s %s", e.Address, e.Found.Identity.GetAttr("name").AsString())
				if e.Found.Object != cty.NilVal {
					line += " with object"
				}
				out = append(out, line)
				if generate {
					out = append(out, strings.Split(e.Found.Resource+"\n"+e.Found.Import, "\n")...)
				}
			case events.QueryComplete:
				out = append(out, fmt.Sprintf("complete %s %d", e.Address, e.Total))
			}
			return most == 0 || len(out) < most
		}})
	}
	for _, d := range ds {
		line := ""
		if d.Subject != nil {
			line = fmt.Sprint(d.Subject.Start.Line, ": ")
		}
		out = append(out, "! "+line+d.Summary)
	}
	return out
}

// TestQuery is a table of query files, among the objects a (red), b (blue) and c (red).
func TestQuery(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ query, want string }{
		"all":            {"list \"lab_thing\" \"all\" {\n  provider = lab\n}", "start list.lab_thing.all\nfound list.lab_thing.all a\nfound list.lab_thing.all b\nfound list.lab_thing.all c\ncomplete list.lab_thing.all 3"},
		"some":           {"list \"lab_thing\" \"some\" {\n  provider = lab\n  include_resource = true\n  config {\n    color = var.color\n  }\n}", "start list.lab_thing.some\nfound list.lab_thing.some a with object\nfound list.lab_thing.some c with object\ncomplete list.lab_thing.some 2"},
		"a limit":        {"locals {\n  most = 2\n}\nlist \"lab_thing\" \"two\" {\n  provider = lab\n  limit = local.most\n}", "start list.lab_thing.two\nfound list.lab_thing.two a\nfound list.lab_thing.two b\ncomplete list.lab_thing.two 2"},
		"repeated":       {"list \"lab_thing\" \"by\" {\n  provider = lab\n  for_each = toset([\"blue\", \"gray\"])\n  config {\n    color = each.key\n  }\n}", "start list.lab_thing.by[\"blue\"]\nfound list.lab_thing.by[\"blue\"] b\ncomplete list.lab_thing.by[\"blue\"] 1\nstart list.lab_thing.by[\"gray\"]\ncomplete list.lab_thing.by[\"gray\"] 0"},
		"a bad limit":    {"list \"lab_thing\" \"all\" {\n  provider = lab\n  limit = 0\n}", "! 3: Invalid limit"},
		"no number":      {"list \"lab_thing\" \"all\" {\n  provider = lab\n  limit = \"x\"\n}", "! 3: Incorrect value type"},
		"no such type":   {"list \"lab_thin\" \"all\" {\n  provider = lab\n}", "! 1: Resource type cannot be listed"},
		"no identity":    {"list \"lab_plain\" \"all\" {\n  provider = lab\n}", "! 1: Resource type without identities"},
		"not known":      {"list \"lab_thing\" \"all\" {\n  provider = lab\n  config {\n    color = lab_thing.r.id\n  }\n}", "! 1: Value is not known in a query"},
		"no provider":    {"list \"lab_thing\" \"all\" {\n}", "! 1: Missing required argument"},
		"twice":          {"list \"lab_thing\" \"all\" {\n  provider = lab\n}\nlist \"lab_thing\" \"all\" {\n  provider = lab\n}", "! 4: Duplicate list \"lab_thing\" configuration"},
		"other block":    {"resource \"lab_thing\" \"all\" {\n  name = \"x\"\n}", "! 1: Unsupported block type"},
		"other argument": {"list \"lab_thing\" \"all\" {\n  provider = lab\n  config {\n    colour = \"red\"\n  }\n}", "! 4: Unsupported argument"},
	} {
		q := newQueryRun(t, tc.query)
		for i, color := range []string{"red", "blue", "red"} {
			id := string(rune('a' + i))
			q.provider.Edit("lab_thing", id+"-1", map[string]cty.Value{"name": cty.StringVal(id), "color": cty.StringVal(color)})
		}
		if diff := cmp.Diff(strings.Split(tc.want, "\n"), q.play(false, 0)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestQueryManyObjects: without a limit, a query of many objects ends at 100, and says so. With one, it returns them all.
func TestQueryManyObjects(t *testing.T) {
	t.Parallel()
	const many = 10_000
	for _, tc := range []struct {
		limit string
		found int
		says  string
	}{
		{"", 100, "! 1: Query ended at its limit"},
		{"limit = 100", 100, ""},
		{"limit = 20000", many, ""},
	} {
		q := newQueryRun(t, "list \"lab_thing\" \"all\" {\n  provider = lab\n  "+tc.limit+"\n}")
		for i := range many {
			id := fmt.Sprintf("n%05d", i)
			q.provider.Edit("lab_thing", id+"-1", map[string]cty.Value{"name": cty.StringVal(id)})
		}
		want := []string{"start list.lab_thing.all"}
		for i := range tc.found {
			want = append(want, fmt.Sprintf("found list.lab_thing.all n%05d", i))
		}
		want = append(want, fmt.Sprint("complete list.lab_thing.all ", tc.found))
		if tc.says != "" {
			want = append(want, tc.says)
		}
		if diff := cmp.Diff(want, q.play(false, 0)); diff != "" {
			t.Errorf("with %q (-want +got):\n%s", tc.limit, diff)
		}
	}
}

// TestQueryLongNumber: a number that nobody could print is refused.
func TestQueryLongNumber(t *testing.T) {
	t.Parallel()
	q := newQueryRun(t, "list \"lab_sized\" \"all\" {\n  provider = lab\n}")
	q.provider.Edit("lab_sized", "a-1", map[string]cty.Value{"name": cty.StringVal("a"), "size": cty.MustParseNumberVal("1e99999999")})
	if diff := cmp.Diff([]string{"start list.lab_sized.all", "! 1: Provider produced invalid object"}, q.play(true, 0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestQueryGenerates: each object gets a resource block and an import block, and nothing sensitive is in them.
func TestQueryGenerates(t *testing.T) {
	t.Parallel()
	q := newQueryRun(t, "list \"lab_thing\" \"all\" {\n  provider = lab\n  for_each = toset([\"x.y\"])\n}")
	q.provider.Edit("lab_thing", "a-1", map[string]cty.Value{"name": cty.StringVal("a"), "pass": cty.StringVal("hunx2")})
	want := strings.Split(`start list.lab_thing.all["x.y"]
found list.lab_thing.all["x.y"] a with object
resource "lab_thing" "all_x_y_0" {
  provider = lab
  color    = null
  name     = "a"
  pass     = null # sensitive
}
import {
  to       = lab_thing.all_x_y_0
  provider = lab
  identity = {
    name = "a"
  }
}
complete list.lab_thing.all["x.y"] 1`, "\n")
	if diff := cmp.Diff(want, q.play(true, 0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestQueryHostile: whatever a name or a key has in it, the generated blocks are one resource and one import, and evaluate to it.
func TestQueryHostile(t *testing.T) {
	t.Parallel()
	const hostile = "\"\n}\nresource \"x\" \"y\" {\n${file(\"/etc/passwd\")} %{ if true } $${a} <<EOT */ # \x00\u2028"
	q := newQueryRun(t, "list \"lab_thing\" \"all\" {\n  provider = lab\n  for_each = toset([\"a\\\"]\\n}\\n$${b}\"])\n}")
	q.provider.Edit("lab_thing", "a-1", map[string]cty.Value{"name": cty.StringVal(hostile)})
	found := 0
	ds := engine.Query(t.Context(), q.run, engine.QueryOptions{Generate: true, Tell: func(e events.Query) bool {
		if e.Kind != events.QueryFound {
			return true
		}
		found++
		file, diags := hclsyntax.ParseConfig([]byte(e.Found.Resource+"\n\n"+e.Found.Import+"\n"), "imports.tf", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatalf("%s\n%s", diags, e.Found.Resource)
		}
		body := file.Body.(*hclsyntax.Body)
		if len(body.Blocks) != 2 || body.Blocks[0].Type != "resource" || body.Blocks[1].Type != "import" || len(body.Attributes) > 0 {
			t.Fatalf("%s\n\n%s", e.Found.Resource, e.Found.Import)
		}
		if !hclsyntax.ValidIdentifier(body.Blocks[0].Labels[1]) {
			t.Errorf("the name %q", body.Blocks[0].Labels[1])
		}
		if v, diags := body.Blocks[0].Body.Attributes["name"].Expr.Value(nil); diags.HasErrors() || v.AsString() != hostile {
			t.Errorf("%q, %s", v, diags)
		}
		return true
	}})
	if ds = append(q.loadError, ds...); ds.HasErrors() || found != 1 {
		t.Errorf("%d found, %v", found, ds)
	}
}

// TestQueryNames: a generated resource never has the name of a resource that the configuration has already, as after an earlier
// query whose blocks were kept.
func TestQueryNames(t *testing.T) {
	t.Parallel()
	q := newQueryRun(t, "list \"lab_thing\" \"r\" {\n  provider = lab\n}", "r_0", "r_0_1", "r_2")
	for i := range 3 {
		q.provider.Edit("lab_thing", fmt.Sprint("a-", i), map[string]cty.Value{"name": cty.StringVal(fmt.Sprint("a", i))})
	}
	var got []string
	for _, line := range q.play(true, 0) {
		if to, is := strings.CutPrefix(strings.TrimSpace(line), "to       = "); is {
			got = append(got, to)
		}
	}
	if diff := cmp.Diff([]string{"lab_thing.r_0_2", "lab_thing.r_1", "lab_thing.r_2_1"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestQueryStops: the caller ends a query, and no more is asked for.
func TestQueryStops(t *testing.T) {
	t.Parallel()
	q := newQueryRun(t, "list \"lab_thing\" \"one\" {\n  provider = lab\n}\nlist \"lab_thing\" \"two\" {\n  provider = lab\n}")
	for i := range 5 {
		q.provider.Edit("lab_thing", fmt.Sprint("a-", i), map[string]cty.Value{"name": cty.StringVal(fmt.Sprint("a", i))})
	}
	want := []string{"start list.lab_thing.one", "found list.lab_thing.one a0"}
	if diff := cmp.Diff(want, q.play(false, 2)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
