package executor

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// proposedLines returns the lines and the reasons for a changed object with the block src, and rules for drift that stays.
func proposedLines(t *testing.T, src string, before, after map[string]cty.Value, rules ...project.IgnoredDrift) *literalWriter {
	t.Helper()
	f, ds := hclsyntax.ParseConfig([]byte(src), "main.tf", hcl.InitialPos)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	at := addrs.Resource{Mode: addrs.Managed, Type: "x_y", Name: "a"}
	w := &literalWriter{
		resources: map[addrs.Resource]*config.Resource{at: {Addr: at, Body: f.Body.(*hclsyntax.Body).Blocks[0].Body}},
		ignored:   rules,
		read:      func(string) ([]byte, error) { return []byte(src), nil },
	}
	plan, _ := withoutIgnoredDrift(&plans.Plan{Drift: []*plans.ResourceChange{{
		Addr:   addrs.ResourceInstanceObject{Instance: addrs.AbsResourceInstance{Resource: addrs.ResourceInstance{Resource: at}}},
		Change: plans.Change{Action: plans.Update, Before: cty.ObjectVal(before), After: cty.ObjectVal(after)},
	}}}, rules)
	for _, c := range plan.Drift {
		w.change(c)
	}
	for _, l := range w.Lines {
		t.Logf("%d: %q -> %q", l.Line, l.Before, l.After)
	}
	t.Logf("left: %q", w.Left)
	return w
}

// TestLiteralsOfIgnoredDrift holds that an attribute whose drift the settings ignore is not written into the configuration, if
// another attribute of the same object has drifted, too.
func TestLiteralsOfIgnoredDrift(t *testing.T) {
	t.Parallel()
	w := proposedLines(t, "resource \"x_y\" \"a\" {\n  size = 1\n  name = \"one\"\n}\n",
		map[string]cty.Value{"size": cty.NumberIntVal(1), "name": cty.StringVal("one")},
		map[string]cty.Value{"size": cty.NumberIntVal(17), "name": cty.StringVal("two")},
		project.IgnoredDrift{Type: "x_y", Name: "a", Attribute: []string{"size"}})
	for _, l := range w.Lines {
		if strings.Contains(l.After, "17") {
			t.Errorf("the ignored attribute is proposed: %q", l.After)
		}
	}
}

// TestLiteralsOfSecretKeys holds that the keys of a sensitive map are in no text.
func TestLiteralsOfSecretKeys(t *testing.T) {
	t.Parallel()
	secret := func(key string) cty.Value {
		return cty.MapVal(map[string]cty.Value{key: cty.StringVal("x")}).Mark("sensitive")
	}
	w := proposedLines(t, "resource \"x_y\" \"a\" {\n  data = {}\n}\n",
		map[string]cty.Value{"data": secret("first-hush")}, map[string]cty.Value{"data": secret("second-hush")})
	if text := strings.Join(w.Left, "; "); strings.Contains(text, "hush") {
		t.Errorf("keys of a sensitive map are shown: %s", text)
	}
}

// TestLiteralsAfterAByteOrderMark holds that a file which begins with a byte order mark is changed at the right place.
func TestLiteralsAfterAByteOrderMark(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"\ufeffresource \"x_y\" \"a\" { name = \"one\" }\n", "resource \"x_y\" \"a\" { name = \"one\" }", "resource \"x_y\" \"a\" {\r\n\tname = \"one\" /* é */\r\n}\r\n"} {
		w := proposedLines(t, src, map[string]cty.Value{"name": cty.StringVal("one")}, map[string]cty.Value{"name": cty.StringVal("\u202e${x}%{if}\x00\u2028\"")})
		if len(w.Lines) != 1 {
			t.Errorf("%q: %d lines", src, len(w.Lines))
			continue
		}
		next := strings.Replace(src, w.Lines[0].Before, w.Lines[0].After, 1)
		f, ds := hclsyntax.ParseConfig([]byte(next), "main.tf", hcl.InitialPos)
		if ds.HasErrors() {
			t.Errorf("%q: %s", next, ds)
			continue
		}
		v, ds := f.Body.(*hclsyntax.Body).Blocks[0].Body.Attributes["name"].Expr.Value(nil)
		if ds.HasErrors() || v.AsString() != "\u202e${x}%{if}\x00\u2028\"" {
			t.Errorf("%q: %#v", next, v)
		}
	}
	for _, number := range []string{"0.1", "123456789012345678901234567890", "1e-30", "-5"} {
		w := proposedLines(t, "resource \"x_y\" \"a\" {\n  size = 1\n}\n", map[string]cty.Value{"size": cty.NumberIntVal(1)}, map[string]cty.Value{"size": cty.MustParseNumberVal(number)})
		if len(w.Lines) != 1 || len(w.Lines[0].After) > 200 {
			t.Errorf("%s: %v", number, w.Lines)
		}
	}
}
