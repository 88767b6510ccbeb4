package schema_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/internal/schematest"
)

func TestVariables(t *testing.T) {
	const legacy = "a string optional\nrule list(object({x=string,y=list(object({z=string}))})) optional\ndisk block list {\n gb number optional\n part block list {\n  m string optional\n }\n}\nm block map {\n a string optional\n}"
	for _, test := range []struct{ name, body, want string }{
		{"none", `a = "x"`, ""},
		{"attributes and blocks", "a = v.a\ndisk {\n gb = v.b\n part {\n  m = \"${v.c}-${v.d[v.e]}\"\n }\n}", "v.a v.b v.c v.d v.e"},
		{"unsupported is passed over", "b = v.a\nbox {\n a = v.b\n}", ""},
		{"attribute as attribute", "rule = [{x = v.a}]", "v.a"},
		{"attribute as blocks", "rule {\n x = v.a\n y {\n  z = v.b\n }\n}", "v.a v.b"},
		{"iterators are no references", "dynamic \"disk\" {\n for_each = v.a\n content {\n  gb = disk.value + v.b\n }\n}", "v.a v.b"},
		{"named iterators", "dynamic \"disk\" {\n for_each = v.a\n iterator = it\n content {\n  gb = it.value + disk.b\n }\n}", "v.a disk.b"},
		{"an iterator is none in its own for_each", "dynamic \"disk\" {\n for_each = disk.a\n content {}\n}", "disk.a"},
		{"iterators reach inside", "dynamic \"disk\" {\n for_each = v.a\n content {\n  dynamic \"part\" {\n   for_each = disk.value\n   content {\n    m = \"${disk.key}${part.key}${v.b}\"\n   }\n  }\n }\n}", "v.a v.b"},
		{"labels", "dynamic \"m\" {\n for_each = v.a\n labels = [m.key, v.b]\n content {}\n}", "v.a v.b"},
		{"dynamic attribute as blocks", "dynamic \"rule\" {\n for_each = v.a\n content {\n  x = rule.value\n  dynamic \"y\" {\n   for_each = v.b\n   content {\n    z = \"${rule.key}${y.key}${v.c}\"\n   }\n  }\n }\n}", "v.a v.b v.c"},
		{"dynamic in a block", "disk {\n dynamic \"part\" {\n  for_each = v.a\n  content {\n   m = part.value\n  }\n }\n}", "v.a"},
		{"dynamic without content", "dynamic \"disk\" {\n for_each = v.a\n}", "v.a"},
		{"dynamic with a bad iterator", "dynamic \"disk\" {\n for_each = v.a\n iterator = \"x\"\n content {}\n}", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, tr := range schematest.Block(t, legacy).Variables(parseBody(t, test.body)) {
				got = append(got, traversal(tr))
			}
			if s := strings.Join(got, " "); s != test.want {
				t.Errorf("got %q, want %q", s, test.want)
			}
		})
	}
}

func traversal(tr hcl.Traversal) string {
	s := tr.RootName()
	if len(tr) > 1 {
		if a, ok := tr[1].(hcl.TraverseAttr); ok {
			s += "." + a.Name
		}
	}
	return s
}

func TestLocate(t *testing.T) {
	const text = `a    = 1
tags = { x = 2 }
names = [
  "p",
  [{ "q" = upper("r") }],
]
disk {
  gb = 3
}
disk {
}
set {
  a = 4
}
m "k" {
  a = 5
}
one {
  a = 6
}
dynamic "dyn" {
  for_each = []
  content {
    a = 7
  }
}
rule {
  x = 8
}
`
	b := schematest.Block(t, `
		a string optional
		b string optional
		tags map(string) optional
		names any optional
		rule list(object({x=string})) optional
		disk block list {
			gb number optional
			no number optional
		}
		set block set {
			a string optional
		}
		m block map {
			a string optional
		}
		one block single {
			a string optional
		}
		dyn block list {
			a string optional
		}
		none block list {
			a string optional
		}
	`)
	bound := b.Bind(parseBody(t, text))
	root := cty.GetAttrPath
	for _, test := range []struct {
		path cty.Path
		want string
	}{
		{root("a"), "1"},
		{root("tags"), "{ x = 2 }"},
		{root("tags").IndexString("x"), "2"},
		{root("tags").IndexString("y"), "{ x = 2 }"},
		{root("names").IndexInt(0), `"p"`},
		{root("names").IndexInt(7), text[strings.Index(text, "[\n"):strings.Index(text, "\ndisk")]},
		{root("names").IndexInt(1).IndexInt(0).GetAttr("q"), `upper("r")`},
		{root("names").IndexInt(1).IndexInt(0).GetAttr("q").GetAttr("deeper"), `upper("r")`},
		{root("names").Index(cty.UnknownVal(cty.Number)), text[strings.Index(text, "[\n"):strings.Index(text, "\ndisk")]},
		{root("disk").IndexInt(0), "disk"},
		{root("disk").IndexInt(0).GetAttr("gb"), "3"},
		{root("disk").IndexInt(0).GetAttr("no"), ""},
		{root("disk").IndexInt(7).GetAttr("gb"), ""},
		{root("set").Index(cty.StringVal("x")).GetAttr("a"), ""},
		{root("m").IndexString("k").GetAttr("a"), "5"},
		{root("m").GetAttr("k").GetAttr("a"), "5"},
		{root("one").GetAttr("a"), "6"},
		{root("dyn").IndexInt(0).GetAttr("a"), `dynamic "dyn"`},
		{root("rule").IndexInt(0).GetAttr("x"), "rule"},
		{root("b"), ""},
		{root("none"), ""},
		{root("nothing"), ""},
		{nil, ""},
	} {
		r := bound.Locate(test.path)
		if got := text[r.Start.Byte:r.End.Byte]; got != test.want {
			t.Errorf("%#v leads to %q at %s, want %q", test.path, got, r, test.want)
		}
	}
}

func TestExpressionsStopsWhenTold(t *testing.T) {
	b := schematest.Block(t, "a string optional\nb string optional\nd block list {\n a string optional\n}")
	n := 0
	for range b.Bind(parseBody(t, "a = 1\nb = 2\nd {\n a = 3\n}\ndynamic \"d\" {\n for_each = 4\n content {\n  a = 5\n }\n}")).Expressions() {
		n++
	}
	if n != 5 {
		t.Errorf("%d expressions, want 5", n)
	}
	for stop := 1; stop <= 5; stop++ {
		n := 0
		for expr := range b.Bind(parseBody(t, "a = 1\nb = 2\nd {\n a = 3\n}\ndynamic \"d\" {\n for_each = 4\n content {\n  a = 5\n }\n}")).Expressions() {
			if _, ok := expr.(hclsyntax.Expression); !ok {
				t.Errorf("%T is not as parsed", expr)
			}
			if n++; n == stop {
				break
			}
		}
		if n != stop {
			t.Errorf("went on to %d after %d", n, stop)
		}
	}
}
