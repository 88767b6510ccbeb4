package planning

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// plannedChanges are changes in a line: "ADDRESS ACTION BEFORE AFTER" each, with the values of an attribute x
// ("?" is unknown, "!" behind a value sensitive, "-" an object that is not there), by "; ".
type plannedChanges []*plans.ResourceChange

func readPlanned(t *testing.T, line string) (out plannedChanges) {
	t.Helper()
	for _, text := range strings.Split(line, "; ") {
		f := strings.Fields(text)
		if len(f) == 0 {
			continue
		}
		a, err := addrs.ParseAbsResourceInstance(f[0])
		if err != nil || len(f) != 4 {
			t.Fatalf("%q: %v", text, err)
		}
		out = append(out, &plans.ResourceChange{
			Addr:   addrs.ResourceInstanceObject{Instance: a},
			Change: plans.Change{Action: plans.Action(f[1][0]), Before: triggerValue(f[2]), After: triggerValue(f[3])},
		})
	}
	return out
}

func triggerValue(s string) cty.Value {
	if s == "-" {
		return cty.NullVal(cty.Object(map[string]cty.Type{"x": cty.String}))
	}
	text, sensitive := strings.CutSuffix(s, "!")
	x := cty.StringVal(text)
	if text == "?" {
		x = cty.UnknownVal(cty.String)
	}
	if sensitive {
		x = x.Mark(marks.Sensitive)
	}
	return cty.ObjectVal(map[string]cty.Value{"x": x, "list": cty.ListVal([]cty.Value{cty.StringVal("same")})})
}

func (p plannedChanges) Of(a addrs.AbsResourceInstance) (out []*plans.ResourceChange) {
	for _, c := range p {
		if c.Addr.Instance == a {
			out = append(out, c)
		}
	}
	return out
}

func (p plannedChanges) OfAll(r addrs.AbsResource) (out []*plans.ResourceChange) {
	for _, c := range p {
		if c.Addr.Instance.AbsResource() == r {
			out = append(out, c)
		}
	}
	return out
}

// TestFires is a table of entries, of an instance with the key "k", in the module instance module.m[0].
func TestFires(t *testing.T) {
	t.Parallel()
	module := &config.Module{Content: &config.Content{Resources: map[addrs.Resource]*config.Resource{}}}
	for _, name := range []string{"a", "b"} {
		r := addrs.Resource{Mode: addrs.Managed, Type: "t", Name: name}
		module.Resources[r] = &config.Resource{Addr: r}
	}
	for _, c := range []struct{ entries, changes, want string }{
		{"", "", "no"},
		{"t.a", "module.m[0].t.a ~ 1 2", "yes"},
		{"t.a", "module.m[0].t.a 0 1 1", "no"},
		{"t.a", "module.m[0].t.a + - 1", "no"},
		{"t.a", "module.m[0].t.a d 1 -", "no"},
		{"t.a", "module.m[0].t.a - 1 2", "yes"},
		{"t.a", "module.m[0].t.a c 1 2", "yes"},
		{"resource.t.a", "module.m[0].t.a ~ 1 2", "yes"},
		{"t.a", "module.m[1].t.a ~ 1 2", "no change found for t.a in module.m[0]"},
		{"t.a", "t.a ~ 1 2", "no change found for t.a in module.m[0]"},
		{"t.a, t.b", "module.m[0].t.a 0 1 1; module.m[0].t.b ~ 1 2", "yes"},
		{"t.b, t.a", "module.m[0].t.a ~ 1 2", "no change found for t.b in module.m[0]"},
		{"t.a", "module.m[0].t.a[0] 0 1 1; module.m[0].t.a[1] ~ 1 2", "yes"},
		{"t.a[0]", "module.m[0].t.a[0] 0 1 1; module.m[0].t.a[1] ~ 1 2", "no"},
		{"t.a[1]", "module.m[0].t.a[0] 0 1 1; module.m[0].t.a[1] ~ 1 2", "yes"},
		{"t.a[each.key]", `module.m[0].t.a["j"] 0 1 1; module.m[0].t.a["k"] ~ 1 2`, "yes"},
		{"t.a[2]", "module.m[0].t.a[0] 0 1 1", "no change found for t.a[2] in module.m[0]"},
		{"t.a.x", "module.m[0].t.a ~ 1 2", "yes"},
		{"t.a.list", "module.m[0].t.a ~ 1 2", "no"},
		{"t.a.list[0]", "module.m[0].t.a ~ 1 2", "no"},
		{"t.a.list[1]", "module.m[0].t.a ~ 1 2", "no"},
		{"t.a.x", "module.m[0].t.a ~ 1 ?", "yes"},
		{"t.a.x", "module.m[0].t.a ~ 1 1!", "no"},
		{"t.a[0].x", "module.m[0].t.a[0] ~ 1! 2!", "yes"},
		{"t.a.x", "module.m[0].t.a + - 1", "no"},
		{"t.none", "", "Reference to undeclared resource"},
		{"local.x", "", "Reference to undeclared local value"},
		{"t", "", badTrigger},
		{"t[0]", "", badTrigger},
		{"1 + 1", "", badTrigger},
	} {
		list := triggerList{Module: module, Changes: readPlanned(t, c.changes), Scope: eval.Scope{
			Module:   addrs.RootModuleInstance.Child("m", addrs.IntKey(0)),
			Instance: &eval.Instance{Key: addrs.StringKey("k"), HasEach: true, Value: cty.True},
		}}
		for _, text := range strings.Split(c.entries, ", ") {
			if text == "" {
				continue
			}
			x, hs := hclsyntax.ParseExpression([]byte(text), "main.tf", hcl.InitialPos)
			if hs.HasErrors() {
				t.Fatal(hs)
			}
			list.Entries = append(list.Entries, x)
		}
		if got := triggerOutcome(list); got != c.want {
			t.Errorf("%s with %s: %s, not %s", c.entries, c.changes, got, c.want)
		}
	}
}

func triggerOutcome(l triggerList) string {
	fires, ds := l.fires()
	switch {
	case ds.HasErrors():
		return ds[0].Summary
	case fires:
		return "yes"
	}
	return "no"
}
