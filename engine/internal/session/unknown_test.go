package session

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/provider"
)

// TestUnknownHint names the reasons of an unknown provider configuration, and the resources to apply first.
func TestUnknownHint(t *testing.T) {
	t.Parallel()
	made := cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal("a"), "id": cty.UnknownVal(cty.String)})
	known := cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal("a"), "id": cty.StringVal("a-1")})
	const intro = "The configuration of provider[\"registry.terraform.io/hashicorp/t\"] depends on values that are known only after apply"
	hint := func(causes, options string) string {
		return intro + ":\n" + causes + "\n\nTo make them known, first plan and apply with these options, and then plan again:\n  " + options
	}
	for _, c := range []struct{ name, files, want string }{
		{"all known", `provider "t" { token = v_x.known.id }`, ""},
		{"no block", ``, ""},
		{"no expression", `provider "t" { token = "x" }`, ""},
		{"attribute", `provider "t" { token = v_x.a.id }`, hint("  - v_x.a.id", "-target=v_x.a")},
		{"twice", `provider "t" { token = "${v_x.a.id}${v_x.a.id}" }`, hint("  - v_x.a.id", "-target=v_x.a")},
		{"sensitive", `provider "t" { token = v_x.secret.id }`, hint("  - v_x.secret.id", "-target=v_x.secret")},
		{"a known name of what is unknown in part", `provider "t" { token = "${v_x.known.id}${v_x.b.name}${v_x.a.id}" }`,
			hint("  - v_x.a.id", "-target=v_x.b -target=v_x.a")},
		{"instance", `provider "t" { token = "${v_x.many[0].id}${v_x.many[1].id}" }`, hint("  - v_x.many[1].id", "'-target=v_x.many[1]'")},
		{"all instances", `provider "t" { token = [for x in v_x.many : x.id][1] }`, hint("  - v_x.many", "-target=v_x.many")},
		{"data", `provider "t" { token = data.v_x.d.id }`, hint("  - data.v_x.d.id", "-target=data.v_x.d")},
		{"local values", "locals {\n  b = local.a\n  a = { x = v_x.a.id, y = v_x.known.id }\n}\nprovider \"t\" { token = local.b.x }", hint("  - v_x.a.id", "-target=v_x.a")},
		{"a known part", "locals {\n  a = { x = v_x.b.id, y = v_x.known.id }\n}\nprovider \"t\" { token = \"${local.a.y}${v_x.a.id}\" }",
			hint("  - v_x.a.id", "-target=v_x.b -target=v_x.a")},
		{"module", "module \"m\" {\n  source = \"./m\"\n  for_each = { k = v_x.a.id }\n  in = each.value\n}\nprovider \"t\" { token = module.m[\"k\"].out }\n-- m/main.tf --\n" +
			"variable \"in\" {}\nresource \"v_x\" \"i\" { name = \"i\" }\noutput \"out\" { value = \"${var.in}${v_x.i.id}\" }\n",
			hint("  - v_x.a.id\n  - module.m[\"k\"].v_x.i.id", "-target=v_x.a '-target=module.m[\"k\"].v_x.i'")},
		{"ephemeral", "ephemeral \"v_e\" \"e\" { name = v_x.a.id }\nprovider \"t\" { token = ephemeral.v_e.e.token }", hint("  - v_x.a.id", "-target=v_x.a")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			decls := "\nresource \"v_x\" \"a\" { name = \"a\" }\nresource \"v_x\" \"b\" { name = \"a\" }\nresource \"v_x\" \"secret\" { name = \"a\" }\nresource \"v_x\" \"known\" { name = \"a\" }\n" +
				"resource \"v_x\" \"many\" {\n  count = 2\n  name = \"a\"\n}\ndata \"v_x\" \"d\" { name = \"d\" }\n"
			s, p := open(t, decls+c.files, tokens+"data t_x\n  id string computed\n  name string required\nephemeral t_e\n  name string required\n  token string computed\n", map[string]cty.Value{
				"v_x.a": made, "v_x.b": made, "v_x.known": known, "v_x.secret": cty.ObjectVal(map[string]cty.Value{"id": cty.UnknownVal(cty.String).Mark(marks.Sensitive)}),
				"v_x.many": cty.TupleVal([]cty.Value{known, made}), "data.v_x.d": made,
				`module.m["k"].v_x.i`: made, "ephemeral.v_e.e": cty.ObjectVal(map[string]cty.Value{"token": cty.UnknownVal(cty.String)}),
			})
			client, ds := s.Client(t.Context(), addrs.AbsProviderConfig{Provider: addrs.DefaultProvider("t")})
			if ds.HasErrors() {
				t.Fatal(ds, s.Diagnostics())
			}
			wants := func(call string, ds diags.Diagnostics, more string) {
				t.Helper()
				want := "sorry"
				if c.want != "" {
					want += "\n\n" + c.want + more
				}
				if len(ds) != 1 {
					t.Fatalf("%s: %v", call, ds)
				}
				if diff := cmp.Diff(want, ds[0].Detail); diff != "" {
					t.Errorf("%s (-want +got)\n%s", call, diff)
				}
			}
			for _, op := range []string{"read", "plan", "import", "data", "open"} {
				p.On(op + ` fail "sorry"`)
			}
			const refresh = "\n\nOr plan with -refresh=false, which does not read the objects in the state."
			_, ds = client.Read(t.Context(), provider.ReadRequest{TypeName: "t_x", Prior: known})
			wants("read", ds, refresh)
			_, ds = client.Plan(t.Context(), provider.PlanRequest{TypeName: "t_x", Prior: known, Proposed: known, Config: known})
			wants("plan", ds, "")
			_, ds = client.Import(t.Context(), provider.ImportRequest{TypeName: "t_x", ID: "a"})
			wants("import", ds, "")
			_, ds = client.ReadData(t.Context(), "t_x", known, cty.NilVal)
			wants("data", ds, "")
			_, ds = client.OpenEphemeral(t.Context(), "t_e", cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal("e"), "token": cty.NullVal(cty.String)}))
			wants("open", ds, "")
		})
	}
}

// TestUnknownConfigure holds that two errors carry the hint: that the provider refuses its configuration, and that an import needs
// all of the configuration. A warning carries none.
func TestUnknownConfigure(t *testing.T) {
	t.Parallel()
	pc := addrs.AbsProviderConfig{Provider: addrs.DefaultProvider("t")}
	const files = "resource \"v_x\" \"a\" { name = \"a\" }\nprovider \"t\" { token = v_x.a.id }\n"
	const hint = "The configuration of provider[\"registry.terraform.io/hashicorp/t\"] depends on values that are known only after apply:\n  - v_x.a.id\n\n" +
		"To make them known, first plan and apply with these options, and then plan again:\n  -target=v_x.a"
	resources := map[string]cty.Value{"v_x.a": cty.ObjectVal(map[string]cty.Value{"id": cty.UnknownVal(cty.String)})}
	for rule, want := range map[string]string{`configure fail "sorry"`: "sorry\n\n" + hint, `configure warn "hm"`: "hm", "": hint} {
		s, p := open(t, files, tokens, resources)
		if p.On("read warn"); rule == "" {
			s.Known = true
		} else {
			p.On(rule)
		}
		s.Client(t.Context(), pc)
		if ds := s.Diagnostics(); len(ds) != 1 || ds[0].Detail != want {
			t.Errorf("%q: %q, want %q", rule, ds, want)
		}
	}
}
