package generating_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/generating"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

func optional(ty cty.Type) *schema.Attribute { return &schema.Attribute{Type: ty, Optional: true} }

func nested(n schema.Nesting) *schema.Attribute {
	return &schema.Attribute{Optional: true, Nested: &schema.Object{Nesting: n, Attributes: map[string]*schema.Attribute{"x": optional(cty.String)}}}
}

func blocks(n schema.Nesting) *schema.NestedBlock {
	return &schema.NestedBlock{Nesting: n, Block: &schema.Block{Attributes: map[string]*schema.Attribute{
		"x": optional(cty.String), "read": {Type: cty.String, Computed: true},
	}}}
}

func obj(x string) cty.Value { return cty.ObjectVal(map[string]cty.Value{"x": cty.StringVal(x)}) }

func in(x string) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"x": cty.StringVal(x), "read": cty.StringVal("r")})
}

// TestBlock writes a block for every kind of attribute and block, once with values, once
// with nothing and once with secrets.
func TestBlock(t *testing.T) {
	t.Parallel()
	b := &schema.Block{
		Attributes: map[string]*schema.Attribute{
			"id": {Type: cty.String, Optional: true, Computed: true}, "read": {Type: cty.String, Computed: true},
			"old": {Type: cty.String, Optional: true, Deprecated: true}, "password": {Type: cty.String, Optional: true, Sensitive: true},
			"name": {Type: cty.String, Required: true}, "json": optional(cty.String), "digits": optional(cty.String),
			"number": optional(cty.Number), "tags": optional(cty.Map(cty.String)),
			"one": nested(schema.NestingSingle), "list": nested(schema.NestingList), "map": nested(schema.NestingMap),
		},
		Blocks: map[string]*schema.NestedBlock{"single": blocks(schema.NestingSingle), "many": blocks(schema.NestingList), "keyed": blocks(schema.NestingMap)},
	}
	full := map[string]cty.Value{
		"id": cty.StringVal("i"), "read": cty.StringVal("r"), "old": cty.StringVal("o"), "password": cty.StringVal("hunter2"),
		"name": cty.StringVal("a \"b\" ${c}"), "json": cty.StringVal(`{"a":[1,null]}`), "digits": cty.StringVal("12"),
		"number": cty.NumberIntVal(3), "tags": cty.MapVal(map[string]cty.Value{"k": cty.StringVal("v")}),
		"one": obj("1"), "list": cty.ListVal([]cty.Value{obj("2"), obj("3")}), "map": cty.MapVal(map[string]cty.Value{"k": obj("4")}),
		"single": in("5"), "many": cty.ListVal([]cty.Value{in("6"), in("7")}), "keyed": cty.MapVal(map[string]cty.Value{"k": in("8")}),
	}
	empty, secret := map[string]cty.Value{}, map[string]cty.Value{}
	for name, v := range full {
		empty[name] = cty.NullVal(v.Type())
		secret[name] = v.Mark(marks.Sensitive)
	}
	empty["many"], empty["keyed"] = cty.ListValEmpty(in("").Type()), cty.MapValEmpty(in("").Type())
	for _, c := range []struct {
		name, provider string
		value          map[string]cty.Value
		want           string
	}{
		{"full", "", full, `resource "lab_x" "a" {
  digits = "12"
  json = jsonencode({
    a = [1, null]
  })
  list = [
    {
      x = "2"
    },
    {
      x = "3"
    },
  ]
  map = {
    k = {
      x = "4"
    }
  }
  name   = "a \"b\" $${c}"
  number = 3
  one = {
    x = "1"
  }
  password = null # sensitive
  tags = {
    k = "v"
  }
  keyed "k" {
    x = "8"
  }
  many {
    x = "6"
  }
  many {
    x = "7"
  }
  single {
    x = "5"
  }
}`},
		{"empty", "lab.west", empty, `resource "lab_x" "a" {
  provider = lab.west
  digits   = null
  json     = null
  list     = null
  map      = null
  name     = null
  number   = null
  one      = null
  password = null # sensitive
  tags     = null
}`},
		{"secret", "", secret, `resource "lab_x" "a" {
  digits   = null # sensitive
  json     = null # sensitive
  list     = []   # sensitive
  map      = {}   # sensitive
  name     = null # sensitive
  number   = null # sensitive
  one      = {}   # sensitive
  password = null # sensitive
  tags     = null # sensitive
  keyed {}        # sensitive
  many {}         # sensitive
  single {}       # sensitive
}`},
	} {
		got := generating.Block(addrs.Resource{Mode: addrs.Managed, Type: "lab_x", Name: "a"}, c.provider, b, cty.ObjectVal(c.value))
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

// TestFile names the IDs that blocks come from.
func TestFile(t *testing.T) {
	t.Parallel()
	got := string(generating.File([]generating.Generated{{ID: "i-1", Text: "a {}"}, {ID: "i-2", Text: "b {}"}}))
	want := `# __generated__ by Terraform
# Please review these resources and move them into your main configuration files.

# __generated__ by Terraform from "i-1"
a {}

# __generated__ by Terraform from "i-2"
b {}
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestLongNumber: a text with a number that nobody could print stays a text.
func TestLongNumber(t *testing.T) {
	t.Parallel()
	b := &schema.Block{Attributes: map[string]*schema.Attribute{"json": optional(cty.String)}}
	for _, text := range []string{"[1e99999999]", "[1e-99999999]", "[1e999999999999]"} {
		got := generating.Block(addrs.Resource{Mode: addrs.Managed, Type: "a", Name: "b"}, "", b, cty.ObjectVal(map[string]cty.Value{"json": cty.StringVal(text)}))
		if want := "resource \"a\" \"b\" {\n  json = \"" + text + "\"\n}"; got != want {
			t.Error(got)
		}
	}
}

// TestNames: names of a provider that are no identifiers are left out.
func TestNames(t *testing.T) {
	t.Parallel()
	const bad = "x = file(\"/etc/passwd\")\ny"
	to := addrs.Resource{Mode: addrs.Managed, Type: "a", Name: "b"}
	b := &schema.Block{Attributes: map[string]*schema.Attribute{bad: optional(cty.String)}, Blocks: map[string]*schema.NestedBlock{bad + "s": blocks(schema.NestingSingle)}}
	v := cty.ObjectVal(map[string]cty.Value{bad: cty.StringVal("v"), bad + "s": in("v")})
	if got := generating.Block(to, "", b, v); got != "resource \"a\" \"b\" {\n}" {
		t.Error(got)
	}
	if got := generating.Import(to, "", cty.ObjectVal(map[string]cty.Value{bad: cty.StringVal("v")})); got != "import {\n  to = a.b\n  identity = {\n  }\n}" {
		t.Error(got)
	}
}

// TestKeyFor holds that the key "for" of an object begins no for expression: what is generated is read back as the same values.
func TestKeyFor(t *testing.T) {
	t.Parallel()
	b := &schema.Block{Attributes: map[string]*schema.Attribute{
		"tags": optional(cty.Map(cty.String)), "json": optional(cty.String), "map": nested(schema.NestingMap), "list": optional(cty.List(cty.Map(cty.String))),
	}}
	tags := cty.MapVal(map[string]cty.Value{"for": cty.StringVal("5m"), "in": cty.StringVal("x")})
	v := map[string]cty.Value{
		"tags": tags, "json": cty.StringVal(`{"alert":{"for":"5m"}}`), "map": cty.MapVal(map[string]cty.Value{"for": obj("1")}), "list": cty.ListVal([]cty.Value{tags}),
	}
	text := generating.Block(addrs.Resource{Mode: addrs.Managed, Type: "lab_x", Name: "a"}, "", b, cty.ObjectVal(v))
	f, ds := hclsyntax.ParseConfig([]byte(text), "main.tf", hcl.InitialPos)
	if ds.HasErrors() {
		t.Fatalf("%s\n%s", ds, text)
	}
	attrs, ds := f.Body.(*hclsyntax.Body).Blocks[0].Body.JustAttributes()
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	for name, want := range map[string]string{"tags": "5m", "list": "5m", "map": "1"} {
		got, ds := attrs[name].Expr.Value(nil)
		if text := fmt.Sprintf("%#v", got); ds.HasErrors() || !strings.Contains(text, `"for":`) || !strings.Contains(text, want) {
			t.Errorf("%s: %s, %s", name, text, ds)
		}
	}
}
