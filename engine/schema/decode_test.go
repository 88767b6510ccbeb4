package schema_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/dynblock"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/schematest"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/parsing"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// shape has every kind of attribute and block.
const shape = `
	name  string required
	size  number optional
	on    bool optional computed
	id    string computed
	any   any optional
	tags  map(string) optional
	point object({x=number, y=optional(number)}) optional
	spec single optional {
		size number required
		mode string optional computed
	}
	ports list optional {
		port  number required
		proto string optional
	}
	disk block list 0..2 {
		gb   number required
		note string optional
		part block set {
			mount string required
		}
	}
	filter block set 1..0 {
		key string optional
	}
	must block single 1..1 {
		a string optional
	}
	may block single {
		a string optional
	}
	group block group {
		a string optional
	}
	named block map {
		a string optional
	}
	loose block list {
		a any optional
	}
	labelled block map {
		a any optional
	}
`

var decodeContext = &hcl.EvalContext{Variables: map[string]cty.Value{
	"secret":  cty.StringVal("s").Mark(marks.Sensitive),
	"secrets": cty.SetVal([]cty.Value{cty.StringVal("s").Mark(marks.Sensitive)}),
	"unknown": cty.DynamicVal,
	"some":    cty.UnknownVal(cty.Set(cty.String)),
	"list":    cty.ListVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b")}),
	"none":    cty.NullVal(cty.DynamicPseudoType),
}}

// minimal is a body that shape accepts.
const minimal = `
	name = "n"
	must {}
	filter {}
`

// Each body is given to the decoder and to hcldec, which must agree.
var bodies = map[string]string{
	"minimal":               minimal,
	"empty":                 ``,
	"attributes":            minimal + "size = 1\non = true\nany = [1]\ntags = {a = 1}\npoint = {x = 1}\nspec = {size = 1}\nports = [{port = 1}, {port = \"2\", proto = \"x\"}]",
	"conversions":           "name = 5\nsize = \"7\"\non = \"true\"\nmust {}\nfilter {}\ntags = {a = true}",
	"wrong types":           "name = []\nsize = \"x\"\npoint = {}\nspec = {}\nports = [{}]\ntags = \"x\"\nmust {}\nfilter {}",
	"unsupported":           minimal + "nam = 1\nid = \"x\"\nbox {}\nsize {}",
	"attribute for a block": minimal + "disk = []",
	"blocks":                minimal + "disk {\ngb = 1\n}\ndisk {\ngb = 2\npart {\nmount = \"/\"\n}\npart {\nmount = \"/\"\n}\n}\nmay {}\ngroup {\na = 1\n}",
	"too many":              minimal + "disk {\ngb = 1\n}\ndisk {\ngb = 2\n}\ndisk {\ngb = 3\n}\nmay {}\nmay {}\nmust {}",
	"missing within":        minimal + "disk {\npart {}\n}",
	"maps":                  minimal + "named \"a\" {\n}\nnamed \"b\" {\na = 1\n}\nlabelled \"x\" {\na = 1\n}\nlabelled \"y\" {\na = true\n}",
	"maps twice":            minimal + "named \"a\" {\n}\nnamed \"a\" {\n}",
	"labels missing":        minimal + "named {}\ndisk \"x\" {\n}",
	"tuples":                minimal + "loose {\na = 1\n}\nloose {\na = {}\n}\nloose {}",
	"marks":                 minimal + "size = secret\nspec = {size = 1, mode = secret}\ndisk {\ngb = 1\nnote = secret\npart {\nmount = secret\n}\n}",
	"unknowns":              minimal + "size = unknown\npoint = unknown\nspec = {size = unknown}\nports = unknown\nany = unknown",
	"bad references":        "name = nothing.there\nmust {\na = missing\n}\nfilter {}",
	"dynamic":               minimal + "dynamic \"disk\" {\nfor_each = list\ncontent {\ngb = disk.key\nnote = disk.value\n}\n}",
	"dynamic in dynamic":    minimal + "dynamic \"disk\" {\nfor_each = list\niterator = d\ncontent {\ngb = 1\ndynamic \"part\" {\nfor_each = list\ncontent {\nmount = \"${d.value}${part.value}\"\n}\n}\n}\n}",
	"dynamic among blocks":  minimal + "disk {\ngb = 1\n}\ndynamic \"disk\" {\nfor_each = [2]\ncontent {\ngb = disk.value\n}\n}",
	"dynamic unknown":       minimal + "dynamic \"disk\" {\nfor_each = unknown\ncontent {\ngb = disk.value\n}\n}\ndynamic \"may\" {\nfor_each = unknown\ncontent {\na = 1\n}\n}\ndynamic \"filter\" {\nfor_each = some\ncontent {\nkey = filter.value\n}\n}\ndynamic \"loose\" {\nfor_each = some\ncontent {\na = 1\n}\n}",
	"dynamic secret":        minimal + "dynamic \"disk\" {\nfor_each = secrets\ncontent {\ngb = 1\n}\n}\ndynamic \"filter\" {\nfor_each = secrets\ncontent {\nkey = \"x\"\n}\n}\ndynamic \"may\" {\nfor_each = secrets\ncontent {\na = \"x\"\n}\n}",
	"dynamic labels":        minimal + "dynamic \"named\" {\nfor_each = list\nlabels = [named.value]\ncontent {\na = named.key\n}\n}",
	"dynamic null":          minimal + "dynamic \"disk\" {\nfor_each = none\ncontent {\ngb = 1\n}\n}",
	"dynamic misused":       minimal + "dynamic \"disk\" {\nfor_each = list\n}\ndynamic \"nothing\" {\nfor_each = list\ncontent {}\n}\ndynamic \"may\" {\ncontent {}\n}",
	"dynamic wrong inside":  minimal + "dynamic \"disk\" {\nfor_each = list\ncontent {\ngb = \"x\"\nbox = 1\n}\n}",
	"dynamic for too many":  minimal + "dynamic \"disk\" {\nfor_each = [1,2,3]\ncontent {\ngb = 1\n}\n}",
}

func TestDecodeAgreesWithHCLDec(t *testing.T) {
	for name, text := range bodies {
		t.Run(name, func(t *testing.T) {
			agrees(t, schematest.Block(t, shape), parseBody(t, text))
		})
	}
}

func TestDecodeAgreesWithHCLDecOnJSON(t *testing.T) {
	for name, text := range map[string]string{
		"minimal": `{"name": "n", "must": {}, "filter": {}}`,
		"empty":   `{}`,
		"blocks":  `{"name": "n", "must": [{}], "filter": [{"key": "${secret}"}], "disk": [{"gb": 1}, {"gb": "${unknown}", "part": {"mount": 1}}]}`,
		"map":     `{"name": "n", "must": {}, "filter": {}, "named": {"a": {}, "b": {"a": 1}}}`,
		"dynamic": `{"name": "n", "must": {}, "filter": {}, "dynamic": {"disk": {"for_each": "${list}", "content": {"gb": "${disk.key}"}}}}`,
		"wrong":   `{"name": {}, "must": {}, "filter": {}, "size": "x", "box": 1}`,
	} {
		t.Run(name, func(t *testing.T) {
			f, ds := json.Parse([]byte(text), "main.tf.json")
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			agrees(t, schematest.Block(t, shape), f.Body)
		})
	}
}

// agrees fails t if hcldec makes something else of body.
func agrees(t *testing.T, b *schema.Block, body hcl.Body) {
	t.Helper()
	got, ds := b.Decode(body, decodeContext)
	want, hds := hcldec.Decode(dynblock.Expand(body, decodeContext), b.DecoderSpec(), decodeContext)
	if !got.RawEquals(want) {
		t.Errorf("decoded\n%#v\nhcldec makes\n%#v", got, want)
	}
	if diff := cmp.Diff(diagLines(diags.FromHCL(hds)), diagLines(ds)); diff != "" {
		t.Errorf("diagnostics (-hcldec +ours):\n%s", diff)
	}
	if errs := got.Type().TestConformance(b.ImpliedType()); len(errs) > 0 {
		t.Errorf("decoded value does not conform: %v", errs)
	}
}

func diagLines(ds diags.Diagnostics) []string {
	var out []string
	for _, d := range ds {
		s := d.String()
		if d.Context != nil {
			s += " in " + d.Context.String()
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

// What a person reads.
func TestDecodeDiagnostics(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"nothing wrong", minimal, ""},
		{"an argument too many", minimal + "sise = 1", `main.tf:5: Unsupported argument: An argument named "sise" is not expected here. Did you mean "size"?`},
		{"an argument missing", "must {}\nfilter {}", `main.tf:1: Missing required argument: The argument "name" is required, but no definition was found.`},
		{"a wrong type", minimal + "size = []", `main.tf:5: Incorrect attribute value type: Inappropriate value for attribute "size": number required. in main.tf:5,1-10`},
		{"a nested wrong type", minimal + "spec = {size = []}", `main.tf:5: Incorrect attribute value type: Inappropriate value for attribute "spec": attribute "size": number required. in main.tf:5,1-19`},
		{"a block too few", "name = 1\nmust {}", `main.tf:1: Insufficient filter blocks: At least 1 "filter" blocks are required.`},
		{"a block missing", "name = 1\nfilter {}", `main.tf:1: Missing must block: A block of type "must" is required here.`},
		{"an unknown block", minimal + "dist {}", `main.tf:5: Unsupported block type: Blocks of type "dist" are not expected here. Did you mean "disk"?`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, ds := schematest.Block(t, shape).Decode(parseBody(t, test.body), decodeContext)
			if got := strings.Join(diagLines(ds), "\n"); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestDecodeAttributesAsBlocksInJSON(t *testing.T) {
	b := schematest.Block(t, "a list(object({x=string})) optional")
	f, _ := json.Parse([]byte(`{"a": [{"x": 1}, {"x": "${unknown}"}]}`), "main.tf.json")
	got, ds := b.Decode(f.Body, decodeContext)
	if want := `{a = [{"x" = "1"}, {"x" = unknown}]}`; schematest.Text(b, got) != want || len(ds) > 0 {
		t.Errorf("got %s, %s, want %s", schematest.Text(b, got), ds, want)
	}
}

// A schema with something that the legacy SDK does not have does not let
// attributes be written as blocks.
func TestDecodeAttributesAsBlocksOfLegacySDKOnly(t *testing.T) {
	const list = "a list(object({x=string})) required\n"
	for _, test := range []struct {
		more string
		as   bool
	}{
		{"", true},
		{"b string optional", true},
		{"b any optional", true},
		{"b map(any) optional", true},
		{"b map(list(string)) optional", true},
		{"b list(list(string)) optional", true},
		{"b list(tuple([string])) optional", true},
		{"b list(object({y=map(object({z=string}))})) optional", true},
		{"b block map {\no string optional\n}", true},
		{"b object({y=string}) optional", false},
		{"b tuple([string]) optional", false},
		{"b map(object({y=string})) optional", false},
		{"b list(set(object({y=string}))) optional", false},
		{"b list(list(list(string))) optional", false},
		{"b list(map(object({y=string}))) optional", false},
		{"b single computed {\ny string computed\n}", false},
		{"b block list {\no object({z=string}) optional\n}", false},
	} {
		_, ds := schematest.Block(t, list+test.more).Decode(parseBody(t, "a {\n}"), nil)
		if ds.HasErrors() == test.as {
			t.Errorf("with %q: as blocks %v, want %v", test.more, !ds.HasErrors(), test.as)
		}
	}
}

func TestBoundDecodesManyInstances(t *testing.T) {
	b := schematest.Block(t, shape)
	bound := b.Bind(parseBody(t, minimal+"size = each\ndynamic \"disk\" {\nfor_each = range\ncontent {\ngb = each\n}\n}"))
	for i := range 3 {
		ctx := &hcl.EvalContext{Variables: map[string]cty.Value{
			"each":  cty.NumberIntVal(int64(i)),
			"range": cty.ListVal(slices.Repeat([]cty.Value{cty.Zero}, i+1)),
		}}
		v, ds := bound.Decode(ctx)
		if n := v.GetAttr("disk").LengthInt(); n != i+1 && i < 2 || ds.HasErrors() != (i == 2) {
			t.Errorf("instance %d has %d disks, diagnostics %s", i, n, ds)
		}
		if !v.GetAttr("size").RawEquals(cty.NumberIntVal(int64(i))) {
			t.Errorf("instance %d has size %#v", i, v.GetAttr("size"))
		}
	}
}

// TestDynamicBlocksHideSecrets makes a function fail in the content of a dynamic block whose for_each is sensitive. HCL
// takes the mark off the values that the content sees.
func TestDynamicBlocksHideSecrets(t *testing.T) {
	t.Parallel()
	b := schematest.Block(t, "rule block list {\n port number optional\n part block set {\n n number optional\n }\n}\n")
	fails := function.New(&function.Spec{
		Params: []function.Parameter{{Name: "x", Type: cty.DynamicPseudoType}}, Type: function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.NilVal, fmt.Errorf("bad %#v", args[0])
		},
	})
	secret := cty.MapVal(map[string]cty.Value{"hush-key": cty.StringVal("hush")}).Mark(marks.Sensitive)
	for _, content := range []string{
		`port = fails(rule.value)`, `port = fails(rule.key)`, `port = [for x in [rule.value] : fails(x)][0]`, `port = rule.value + 1`, `port = rule.value.nope`,
		"part {\n n = fails(rule.value)\n }", "dynamic \"part\" {\n for_each = [rule.value]\n content {\n n = fails(part.value)\n }\n }",
		"dynamic \"part\" {\n for_each = fails(rule.value)\n content {\n }\n }",
	} {
		f, hs := parsing.Config([]byte("dynamic \"rule\" {\n for_each = secret\n content {\n"+content+"\n }\n}\n"), "main.tf")
		if hs.HasErrors() {
			t.Fatal(hs)
		}
		ctx := &hcl.EvalContext{Functions: map[string]function.Function{"fails": fails}, Variables: map[string]cty.Value{"secret": secret}}
		_, ds := b.Decode(f.Body, ctx)
		if !ds.HasErrors() {
			t.Errorf("%s has no errors", content)
		}
		for _, d := range ds {
			said := d.Summary + d.Detail
			if d.Expression != nil {
				for _, ref := range d.Expression.Variables() {
					if v, hs := ref.TraverseAbs(d.EvalContext); !hs.HasErrors() && !v.IsMarked() {
						said += fmt.Sprintf("%#v", v)
					}
				}
			}
			if strings.Contains(said, "hush") {
				t.Errorf("%s: %s", content, said)
			}
		}
	}
}
