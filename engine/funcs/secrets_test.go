package funcs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/engine/funcs"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/parsing"
)

// secretArguments have "hush" or 98765 in each value that a function could put into an error.
var secretArguments = []cty.Value{
	text("hush-1"), text("(hush"), text("/(hush/"), text("{\"hush"), text("%hush"), text("%[9]s hush"), text("a: [hush"), text("a,hush\n\"hush"), text("10.0.0.0/hush"),
	text("2024-01-01T00:00:00hush"), text("YYYY 'hush"), text("hhhush"), text("${hush}"), text("${hush"), text("/hush/../hush"), text("hush=1"),
	cty.NumberIntVal(98765), cty.NumberFloatVal(-98765.5),
	cty.ListVal([]cty.Value{text("hush-1"), text("hush-1")}), cty.TupleVal([]cty.Value{text("hush"), cty.NumberIntVal(98765), cty.ListValEmpty(cty.String)}),
	cty.MapVal(map[string]cty.Value{"hush": text("hush")}), cty.ObjectVal(map[string]cty.Value{"hush": text("hush"), "x": cty.EmptyTupleVal}),
	cty.SetVal([]cty.Value{text("hush")}), cty.MapVal(map[string]cty.Value{"hush": cty.ListVal([]cty.Value{text("hush"), cty.NullVal(cty.String)})}),
}

// openArguments stand beside a secret one.
var openArguments = []cty.Value{
	text("a"), text("2024-01-01T00:00:00Z"), text("10.0.0.0/8"), text("Shift_JIS"), text("${x}"), cty.NumberIntVal(1), cty.NumberIntVal(64),
	cty.ListVal([]cty.Value{text("a"), text("b")}), cty.MapVal(map[string]cty.Value{"a": text("x")}), cty.NullVal(cty.DynamicPseudoType),
}

func text(s string) cty.Value { return cty.StringVal(s) }

// TestErrorsHaveNoSecrets calls every function with secret arguments of every kind that make it fail, alone, beside open
// arguments, and all secret. No error has a part of a secret, and no function panics.
func TestErrorsHaveNoSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte(`${regex("(${hush}", "a")}`), 0o600); err != nil {
		t.Fatal(err)
	}
	table := funcs.Table(funcs.Scope{BaseDir: dir, ConsoleMode: true})
	hidden := map[string]int{}
	for name, f := range table {
		if strings.HasPrefix(name, "core::") {
			continue
		}
		counts := []int{len(f.Params())}
		if f.VarParam() != nil {
			counts = append(counts, len(f.Params())+1, len(f.Params())+2)
		}
		for _, n := range counts {
			if n == 0 {
				continue
			}
			for _, c := range secretCalls(n) {
				if name == "bcrypt" && (n != 2 || !c.secret[1]) {
					continue // it succeeds, and takes its time
				}
				for _, m := range []marks.Mark{marks.Sensitive, marks.Ephemeral} {
					hidden[name] += c.try(t, table, name, m)
				}
			}
		}
	}
	for _, name := range []string{"parseint", "timeadd", "cidrhost", "regex", "replace", "formatdate", "jsondecode", "templatefile", "templatestring", "base64decode", "index"} {
		if hidden[name] == 0 {
			t.Errorf("no call of %s has failed with a reason that is hidden", name)
		}
	}
}

// A secretCall is a list of arguments, and which of them are secret.
type secretCall struct {
	args   []cty.Value
	secret []bool
}

func secretCalls(n int) []secretCall {
	var out []secretCall
	for _, s := range secretArguments {
		out = append(out, secretCall{slices.Repeat([]cty.Value{s}, n), slices.Repeat([]bool{true}, n)})
		for at := range n {
			for _, open := range openArguments {
				c := secretCall{slices.Repeat([]cty.Value{open}, n), make([]bool, n)}
				c.args[at], c.secret[at] = s, true
				out = append(out, c)
			}
		}
	}
	return out
}

// try evaluates the call, and returns how many reasons were hidden.
func (c secretCall) try(t *testing.T, table map[string]function.Function, name string, m marks.Mark) (hidden int) {
	t.Helper()
	vars := map[string]cty.Value{"x": text("x")}
	var names []string
	for i, v := range c.args {
		if c.secret[i] {
			v = v.Mark(m)
		}
		names = append(names, fmt.Sprintf("v%d", i))
		vars[names[i]] = v
	}
	src := name + "(" + strings.Join(names, ", ") + ")"
	for _, src := range []string{src, "try(" + src + ")"} {
		x, hs := parsing.Expression([]byte(src), "main.tf", hcl.InitialPos)
		if hs.HasErrors() {
			t.Fatal(hs)
		}
		_, hs = x.Value(&hcl.EvalContext{Functions: table, Variables: vars})
		for _, d := range hs {
			said := d.Summary + ": " + d.Detail
			if strings.Contains(said, "hush") || strings.Contains(said, "98765") || strings.Contains(said, "crashed") || strings.Contains(said, "panic") {
				t.Errorf("%s with %#v\n%s", src, vars, said)
			}
			if strings.Contains(said, "does not show it") {
				hidden++
			}
		}
	}
	return hidden
}

// TestOperatorErrorsHaveNoSecrets is for the errors of everything in an expression that is no function.
func TestOperatorErrorsHaveNoSecrets(t *testing.T) {
	t.Parallel()
	table := funcs.Table(funcs.Scope{BaseDir: t.TempDir()})
	for _, src := range []string{
		`{ for x in tolist(v) : x => 1 }`, `{ for k, x in { a = v, b = v } : x => k }`, `{ a = 1 }[v]`, `[1][v]`, `tomap({ a = 1 })[v]`, `tolist([1])[v]`, `v.nope`, `v["nope"]`, `v[0]`, `v[5]`,
		`"a ${v}"`, `v ? 1 : 2`, `v + 1`, `-v`, `!v`, `v && true`, `v < 1`, `{ (v) = 1 }`, `true ? v : [1]`, `v.*.nope`, `v[*].nope`, `[for x in v : x.nope]`, `"%{ for x in v }${x.nope}%{ endfor }"`, `"%{ if v }%{ endif }"`,
		`{ a = { b = 1 } }.a[v]`, `{ a = 1 }.a[v]`, `max(v...)`, `tomap({ a = v, b = [1] })`, `lookup({ a = 1 }, v)`, `[for x in tolist(v) : parseint(x, 10)]`, `{ for x in v : x => parseint(x, 10) }`, `{ for k, x in v : parseint(k, 10) => x }`, `[for x in v : x if regex("(${x}", "") == ""]`,
		`[for x in [v] : [for y in x : parseint(y, 10)]]`, `[for x in [1] : [for y in v : [for z in [y] : parseint("${z}${y}", 10)]]]`, `"%{ for x in v }${parseint(x, 10)}%{ endfor }"`, `{ for x in v : "${x}" => 1 if parseint(x, 10) > 0 }`,
		`[for x in v : { for y in [x, x] : y => 1 }]`, `{ for x in [1, 2] : (true ? "a-${tostring(v)}" : "") => 1 }`, `one([for x in ["${v}-a", "${v}-b"] : x])`,
	} {
		for _, secret := range secretArguments {
			for _, m := range []marks.Mark{marks.Sensitive, marks.Ephemeral} {
				x, hs := parsing.Expression([]byte(src), "main.tf", hcl.InitialPos)
				if hs.HasErrors() {
					t.Fatal(hs)
				}
				_, hs = x.Value(&hcl.EvalContext{Functions: table, Variables: map[string]cty.Value{"v": secret.Mark(m)}})
				for _, d := range hs {
					if said := d.Summary + ": " + d.Detail + shown(d); strings.Contains(said, "hush") || strings.Contains(said, "98765") {
						t.Errorf("%s with %#v\n%s", src, secret, said)
					}
				}
			}
		}
	}
}

// shown returns the values that are shown beside a diagnostic, as the renderer chooses them.
func shown(d *hcl.Diagnostic) string {
	out := ""
	if d.Expression == nil || d.EvalContext == nil {
		return out
	}
	for _, t := range d.Expression.Variables() {
		if v, hs := t.TraverseAbs(d.EvalContext); !hs.HasErrors() && !v.IsMarked() {
			out += fmt.Sprintf("\n%#v", v)
		}
	}
	return out
}

// TestCallsOfWrongArguments lists calls that crashed once, and one of a function that panics.
func TestCallsOfWrongArguments(t *testing.T) {
	t.Parallel()
	table := funcs.Table(funcs.Scope{BaseDir: t.TempDir()})
	table["bad"] = function.New(&function.Spec{
		Params: []function.Parameter{{Name: "x", Type: cty.DynamicPseudoType, AllowNull: true}}, Type: function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { panic("not a " + args[0].AsString()) },
	})
	for _, c := range []struct{ src, want string }{
		{`transpose(["a", "b"])`, `1:11: Invalid function argument: Invalid value for "values" parameter: map of list of string required.`},
		{`transpose(tolist(["a"]))`, `1:11: Invalid function argument: Invalid value for "values" parameter: map of list of string required.`},
		{`transpose("a")`, `1:12: Invalid function argument: Invalid value for "values" parameter: map of list of string required, but have string.`},
		{`transpose([]...)`, `1:16: Not enough function arguments: Function "transpose" expects 1 argument(s). Missing value for "values".`},
		{`jsonencode([]...)`, `1:17: Not enough function arguments: Function "jsonencode" expects 1 argument(s). Missing value for "val".`},
		{`yamlencode([]...)`, `1:17: Not enough function arguments: Function "yamlencode" expects 1 argument(s). Missing value for "value".`},
		{`format("x-%v", null)`, `"x-null"`},
		{`format("%#v %s", null, "a")`, `"null a"`},
		{`join(",", formatlist("%v-%s", null, ["a", "b"]))`, `"null-a,null-b"`},
		{`try(format("%s", null), "none")`, `"none"`},
		{`try(transpose(["a"]), "none")`, `"none"`},
		{`try(transpose(toset(["a"])), "none")`, `"none"`},
		{`can(transpose(["a"]))`, `false`},
		{`bad("text")`, `1:1: Error in function call: The function "bad" crashed: not a text. This is a bug in Lockstep: please report it, with the arguments of this call.`},
		{`bad(1)`, `1:1: Error in function call: The function "bad" crashed: not a string. This is a bug in Lockstep: please report it, with the arguments of this call.`},
		{`bad(sensitive("hush"))`, `1:1: Error in function call: The function "bad" crashed. This is a bug in Lockstep: please report it, with the arguments of this call.`},
		{`try(bad(1), "none")`, `"none"`},
	} {
		x, hs := parsing.Expression([]byte(c.src), "main.tf", hcl.InitialPos)
		if hs.HasErrors() {
			t.Fatal(hs)
		}
		v, hs := x.Value(&hcl.EvalContext{Functions: table})
		var got string
		if hs.HasErrors() {
			got = fmt.Sprintf("%d:%d: %s: %s", hs[0].Subject.Start.Line, hs[0].Subject.Start.Column, hs[0].Summary, hs[0].Detail)
		} else if v.Type() == cty.Bool {
			got = fmt.Sprint(v.True())
		} else {
			got = fmt.Sprintf("%q", v.AsString())
		}
		if got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.src, got, c.want)
		}
	}
}
