package projectinputs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/parsing"
)

// parsed reads "inputs = " and a text behind it, on the third line of a file.
func parsed(t *testing.T, text string) ([]Link, hcl.Diagnostics) {
	t.Helper()
	src := []byte("\n\ninputs = " + text + "\n")
	f, ds := parsing.Config(src, "lockstep.hcl")
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	attrs, ds := f.Body.JustAttributes()
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return Parse(src, attrs["inputs"])
}

// of writes references as "PROJECT.OUTPUT".
func of(all []Link) string {
	var out []string
	for _, l := range all {
		for _, r := range l.References() {
			out = append(out, fmt.Sprintf("%s=%s.%s@%d", l.Variable, r.Project, r.Output, r.At.Start.Line))
		}
	}
	return strings.Join(out, " ")
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want, said string }{
		{"an output", `{ vpc_id = project.network.outputs.vpc_id }`, "vpc_id=network.vpc_id@3", ""},
		{"a name with a dash and one with a slash", `{ a = project.svc-net.outputs.x, b = project["live/net"].outputs["x"] }`, "a=svc-net.x@3 b=live/net.x@3", ""},
		{"parts of an output", `{ a = project.net.outputs.subnets[0].id, b = project.net.outputs.subnets[*].id }`, "a=net.subnets@3 b=net.subnets@3", ""},
		{"all outputs", `{ a = project.net.outputs }`, "a=net.@3", ""},
		{"templates and constants", `{ a = "${project.net.outputs.x}-${project.db.outputs.y}", b = [1, "x", project.net.outputs.z] }`, "a=net.x@3 a=db.y@3 b=net.z@3", ""},
		{"a loop", `{ a = [for s in project.net.outputs.subnets : s.id] }`, "", "An input cannot have loops or functions"},
		{"a loop of a template", `{ a = "%{for s in project.net.outputs.subnets}${s}%{endfor}" }`, "", "An input cannot have loops or functions"},
		{"several lines", "{\n  b = project.net.outputs.x\n  a = {\n    x = project.net.outputs.y\n  }\n}", "b=net.x@4 a=net.y@6", ""},
		{"no object", `project.net.outputs`, "", "3,10-29: Invalid value; The argument \"inputs\" must be values by names of variables"},
		{"no name of a variable", `{ "a b" = project.net.outputs.x }`, "", "Invalid name of a variable"},
		{"twice", `{ a = project.net.outputs.x, "a" = project.net.outputs.y }`, "a=net.x@3", "Two inputs for one variable"},
		{"another name", `{ a = var.x, b = project.net.outputs.x }`, "b=net.x@3", `An input can use only outputs of other projects, such as project.network.outputs.vpc_id, so "var" has no meaning here`},
		{"a name that is not written out", `{ a = project[project.net.outputs.x].outputs.y }`, "", "Write the name of the project"},
		{"a number as a name", `{ a = project[0].outputs.y }`, "", "Write the name of the project"},
		{"all projects", `{ a = project }`, "", "Write the name of the project"},
		{"something else of a project", `{ a = project.net.resources.x }`, "", "An input can use only the outputs of another project. Write project[\"net\"].outputs.NAME"},
		{"a whole project", `{ a = project.net }`, "", "An input can use only the outputs of another project"},
		{"a function", `{ a = upper(project.net.outputs.x) }`, "", "An input cannot have loops or functions"},
		{"a file", `{ a = file("/etc/passwd") }`, "", "An input cannot have loops or functions"},
		{"<<", "{\n  a = <<E\n${project.net.outputs.x}\nE\n}", "", "Write it without <<"},
		{"too long", `{ a = "` + strings.Repeat("x", maxExpression) + `" }`, "", "at most 4096 are allowed"},
	} {
		all, ds := parsed(t, c.text)
		if got := of(all); got != c.want || c.said == "" && ds.HasErrors() || c.said != "" && !strings.Contains(ds.Error(), c.said) {
			t.Errorf("%s: %s, want %s\n%v", c.name, got, c.want, ds)
		}
	}
	many := "{\n"
	for i := range maxLinks + 1 {
		many += fmt.Sprintf("  a%d = project.net.outputs.x\n", i)
	}
	if all, ds := parsed(t, many+"}"); all != nil || !strings.Contains(ds.Error(), "Too many inputs") {
		t.Error(len(all), ds)
	}
}

// TestPlain holds that inputs are the same wherever they stand.
func TestPlain(t *testing.T) {
	t.Parallel()
	a, _ := parsed(t, `{ a = project.net.outputs.x, b = 1 }`)
	b, _ := parsed(t, "{\n\n  b = 1\n  a = project.net.outputs.x\n}")
	if fmt.Sprint(a) == fmt.Sprint(b) || fmt.Sprint(Plain(a)) != fmt.Sprint(Plain(b)) || a[0].At.Line != 3 {
		t.Error(a, b)
	}
	if got := fmt.Sprint(Projects(append(a, b...))); got != "[net]" {
		t.Error(got)
	}
}

func TestValue(t *testing.T) {
	t.Parallel()
	known := map[string]map[string]cty.Value{
		"net":   {"id": cty.StringVal("vpc-1"), "later": cty.UnknownVal(cty.String), "n": cty.NumberIntVal(2), "password": cty.StringVal("horse").Mark(marks.Sensitive), "l": cty.ListVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b")})},
		"empty": {},
	}
	for _, c := range []struct{ text, want, said string }{
		{`project.net.outputs.id`, `cty.StringVal("vpc-1")`, ""},
		{`"${project.net.outputs.id}/${project.net.outputs.n}"`, `cty.StringVal("vpc-1/2")`, ""},
		{`project.net.outputs.l[1]`, `cty.StringVal("b")`, ""},
		{`project.net.outputs.later`, `cty.UnknownVal(cty.String)`, ""},
		{`"x-${project.net.outputs.password}"`, `cty.StringVal("x-horse").Mark("sensitive")`, ""},
		{`project.unread.outputs.x`, `cty.DynamicVal`, ""},
		{`project.net.outputs.nothing`, ``, `No such output: The project "net" has no output "nothing". It has id, l, later, n, password. Correct the name`},
		{`project.empty.outputs.x`, ``, `It has no outputs. Declare the output there`},
		{`project.net.outputs.id.x`, ``, `Unsupported attribute`},
		{`project.net.outputs.l[7]`, ``, `Invalid index`},
		{`project.net.outputs.password + 1`, ``, `a number is required`},
	} {
		all, ds := parsed(t, "{ a = "+c.text+" }")
		if ds.HasErrors() {
			t.Fatal(c.text, ds)
		}
		v, more := all[0].Value(budget.Pipeline(1<<30), known)
		if got := v.GoString(); c.said == "" && (more.HasErrors() || got != c.want) || c.said != "" && (!strings.Contains(more.Err().Error(), c.said) || got != "cty.DynamicVal") {
			t.Errorf("%s: %s, %v", c.text, got, more)
		}
	}
}
