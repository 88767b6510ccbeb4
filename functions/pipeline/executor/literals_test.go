package executor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// TestLiterals is a table of changed attributes: the line that keeps the change, or why there is none.
func TestLiterals(t *testing.T) {
	t.Parallel()
	const src = `resource "x_y" "a" {
  size     = 1 # the size
  name     = "one"
  on       = true
  port     = "80"
  computed = 1 + 1
  from     = var.size
  text     = "a ${1}"
  list     = [1]
  lines    = "one"
  secret   = "hush"
  ahead    = 5
  there    = 9
}
`
	f, ds := hclsyntax.ParseConfig([]byte(src), "main.tf", hcl.InitialPos)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	at := addrs.Resource{Mode: addrs.Managed, Type: "x_y", Name: "a"}
	known := map[addrs.Resource]*config.Resource{at: {Addr: at, Body: f.Body.(*hclsyntax.Body).Blocks[0].Body}}
	number := func(n int64) cty.Value { return cty.NumberIntVal(n) }
	before := map[string]cty.Value{
		"size": number(1), "name": cty.StringVal("one"), "on": cty.True, "port": number(80), "computed": number(2), "from": number(1), "text": cty.StringVal("a 1"),
		"list": cty.ListVal([]cty.Value{number(1)}), "lines": cty.StringVal("one"), "secret": cty.StringVal("hush").Mark("sensitive"), "ahead": number(4), "there": number(8), "unset": number(1),
		"tags": cty.MapVal(map[string]cty.Value{"a": cty.StringVal("1")}),
	}
	for name, x := range map[string]struct {
		value cty.Value
		want  string
	}{
		"size":     {number(2), "2 `  size     = 2 # the size`"},
		"name":     {cty.StringVal("t\"w${o}"), "3 `  name     = \"t\\\"w$${o}\"`"},
		"on":       {cty.False, "4 `  on       = false`"},
		"port":     {number(81), "5 `  port     = 81`"},
		"computed": {number(3), "x_y.a.computed: its expression is no literal"},
		"from":     {number(3), "x_y.a.from: its expression is no literal"},
		"text":     {cty.StringVal("a 2"), "x_y.a.text: its expression is no literal"},
		"list":     {cty.ListVal([]cty.Value{number(2)}), "x_y.a.list: its expression is no literal"},
		"lines":    {cty.StringVal("a\nb"), "x_y.a.lines: its value has several lines"},
		"secret":   {cty.StringVal("new").Mark("sensitive"), "x_y.a.secret: it is sensitive"},
		"ahead":    {number(6), "x_y.a.ahead: the configuration has another value, which is not applied"},
		"there":    {number(9), ""},
		"unset":    {number(2), ""},
		"tags":     {cty.MapVal(map[string]cty.Value{"a": cty.StringVal("2")}), "x_y.a.tags.a: it is a part of an attribute"},
	} {
		after := map[string]cty.Value{}
		for k, v := range before {
			after[k] = v
		}
		after[name] = x.value
		w := literalWriter{resources: known, read: func(string) ([]byte, error) { return []byte(src), nil }}
		w.change(&plans.ResourceChange{
			Addr:   addrs.ResourceInstanceObject{Instance: addrs.AbsResourceInstance{Resource: addrs.ResourceInstance{Resource: at}}},
			Change: plans.Change{Action: plans.Update, Before: cty.ObjectVal(before), After: cty.ObjectVal(after)},
		})
		got := strings.Join(w.Left, ", ")
		for _, l := range w.Lines {
			got += fmt.Sprintf("%d `%s`", l.Line, l.After)
			if strings.Count(l.Before, "=") != 1 {
				t.Errorf("%s: the line was %q", name, l.Before)
			}
		}
		if got != x.want {
			t.Errorf("%s: %s, want %s", name, got, x.want)
		}
	}
	w := literalWriter{resources: known, read: func(string) ([]byte, error) { return []byte(src), nil }}
	for _, x := range []struct {
		object addrs.AbsResourceInstance
		action plans.Action
	}{
		{addrs.AbsResourceInstance{Resource: addrs.ResourceInstance{Resource: at}}, plans.Delete},
		{addrs.AbsResourceInstance{Module: addrs.RootModuleInstance.Child("m", addrs.NoKey), Resource: addrs.ResourceInstance{Resource: at}}, plans.Update},
		{addrs.AbsResourceInstance{Resource: addrs.ResourceInstance{Resource: at, Key: addrs.IntKey(0)}}, plans.Update},
		{addrs.AbsResourceInstance{Resource: addrs.ResourceInstance{Resource: addrs.Resource{Mode: addrs.Managed, Type: "x_y", Name: "b"}}}, plans.Update},
	} {
		w.change(&plans.ResourceChange{Addr: addrs.ResourceInstanceObject{Instance: x.object}, Change: plans.Change{Action: x.action, Before: cty.ObjectVal(before), After: cty.ObjectVal(before)}})
	}
	if got := strings.Join(w.Left, "; "); got != "x_y.a: the object is gone; module.m.x_y.a: it is in a module; x_y.a[0]: its block has several instances; x_y.b: the configuration does not have it" {
		t.Errorf("left out: %s", got)
	}
	for range 200 {
		w.leave("x_y.a", "too many")
	}
	if len(w.Left) != maxLiterals || w.More != 154 {
		t.Errorf("%d reasons, and %d more", len(w.Left), w.More)
	}
}
