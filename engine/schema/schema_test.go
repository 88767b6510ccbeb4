package schema_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/internal/schematest"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

func TestImpliedType(t *testing.T) {
	obj := func(name string, ty cty.Type) cty.Type { return cty.Object(map[string]cty.Type{name: ty}) }
	a := obj("a", cty.String)
	for _, test := range []struct {
		schema string
		want   cty.Type
	}{
		{"", cty.EmptyObject},
		{"x string required", obj("x", cty.String)},
		{"x object({a=optional(string)}) optional", obj("x", a)},
		{"x any optional", obj("x", cty.DynamicPseudoType)},
		{"x single optional {\na string required\n}", obj("x", a)},
		{"x list optional {\na string optional\n}", obj("x", cty.List(a))},
		{"x set optional {\na string optional\n}", obj("x", cty.Set(a))},
		{"x map optional {\na string optional\n}", obj("x", cty.Map(a))},
		{"x block single {\na string optional\n}", obj("x", a)},
		{"x block group {\na string optional\n}", obj("x", a)},
		{"x block list {\na string optional\n}", obj("x", cty.List(a))},
		{"x block set {\na string optional\n}", obj("x", cty.Set(a))},
		{"x block map {\na string optional\n}", obj("x", cty.Map(a))},
		{"x block list {\na any optional\n}", obj("x", cty.DynamicPseudoType)},
		{"x block map {\na any optional\n}", obj("x", cty.DynamicPseudoType)},
		{"x block single {\na any optional\n}", obj("x", obj("a", cty.DynamicPseudoType))},
		{"x block list {\ny block list {\na any optional\n}\n}", obj("x", cty.DynamicPseudoType)},
	} {
		b := schematest.Block(t, test.schema)
		if got := b.ImpliedType(); !got.Equals(test.want) {
			t.Errorf("%q has type %#v, want %#v", test.schema, got, test.want)
		}
		if got := hcldec.ImpliedType(b.DecoderSpec()).WithoutOptionalAttributesDeep(); !got.Equals(test.want) {
			t.Errorf("the specification of %q has type %#v, want %#v", test.schema, got, test.want)
		}
		if a, n := b.Attributes["x"], b.Blocks["x"]; a != nil && !a.ImpliedType().Equals(test.want.AttributeType("x")) ||
			n != nil && !n.ImpliedType().Equals(test.want.AttributeType("x")) {
			t.Errorf("x in %q has another type", test.schema)
		}
		if errs := b.EmptyValue().Type().TestConformance(test.want); len(errs) > 0 {
			t.Errorf("the empty value of %q does not conform: %v", test.schema, errs)
		}
		if v := b.NullValue(); !v.IsNull() || !v.Type().Equals(test.want) {
			t.Errorf("the null of %q is %#v", test.schema, v)
		}
		if v := b.EmptyValue(); !b.AllAttributesNull(v) || !b.AllAttributesNull(b.NullValue()) {
			t.Errorf("the empty value of %q has attributes", test.schema)
		}
	}
}

func TestAllAttributesNull(t *testing.T) {
	b := schematest.Block(t, "a string optional\nl block list {\n b string optional\n}\ng block group {\n c string optional\n}")
	for text, want := range map[string]bool{
		"{}":                      true,
		"{l = [{}, {}]}":          true,
		`{a = "x"}`:               false,
		"{a = unknown}":           false,
		`{l = [{}, {b = "x"}]}`:   false,
		"{l = unknown}":           false,
		`{g = {c = "x"}}`:         false,
		"{a = sensitive(null)}":   true,
		`{a = sensitive("null")}`: false,
	} {
		if got := b.AllAttributesNull(schematest.Value(t, b, text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, test := range []struct{ schema, want string }{
		{"a string required\nb string optional computed\nc block list 1..2 {\n a any optional\n}", ""},
		{"a string", "a: must set Optional, Required or Computed"},
		{"a string optional required", "a: cannot set both Optional and Required"},
		{"a string computed required", "a: cannot set both Computed and Required"},
		{"a string computed wo", "a: cannot set WriteOnly together with Computed"},
		{"A string optional", "A: name may contain only lowercase letters, digits and underscores"},
		{"b block list {\n c block list {\n  a string\n }\n}", "b.c.a: must set Optional, Required or Computed"},
		{"b list optional {\n a string\n}", "b.a: must set Optional, Required or Computed"},
		{"b group optional {\n a string optional\n}", "b: invalid nesting mode 2"},
		{"b set optional {\n a any optional\n}", "b: objects in a set may not have attributes of a dynamic type"},
		{"b block set {\n a any optional\n}", "b: blocks in a set may not have attributes of a dynamic type"},
		{"b block single 0..1 {\n}", "b: MinItems and MaxItems must match, and be 0 or 1, for a single block"},
		{"b block group 1..1 {\n}", "b: MinItems and MaxItems cannot be used for a group block"},
		{"b block map 1..1 {\n}", "b: MinItems and MaxItems must both be 0 for blocks in a map"},
		{"b block list 2..1 {\n}", "b: MinItems must be less than or equal to MaxItems"},
		{"b string optional\nb block list {\n}", "b: name defined as both attribute and block"},
	} {
		err := schematest.Block(t, test.schema).Check()
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%q: got %q, want %q", test.schema, got, test.want)
		}
	}
	for _, b := range []*schema.Block{
		{Attributes: map[string]*schema.Attribute{"a": nil}},
		{Attributes: map[string]*schema.Attribute{"a": {Optional: true}}},
		{Attributes: map[string]*schema.Attribute{"a": {Optional: true, Type: cty.String, Nested: &schema.Object{Nesting: schema.NestingList}}}},
		{Blocks: map[string]*schema.NestedBlock{"b": {}}},
		{Blocks: map[string]*schema.NestedBlock{"b": {Block: &schema.Block{}}}},
		{Blocks: map[string]*schema.NestedBlock{"b": {Block: &schema.Block{}, Nesting: schema.NestingList, MinItems: -1}}},
	} {
		if b.Check() == nil {
			t.Errorf("%#v passes", b)
		}
	}
}

func TestFormatPath(t *testing.T) {
	for _, test := range []struct {
		path cty.Path
		want string
	}{
		{nil, ""},
		{cty.GetAttrPath("a").GetAttr("b"), ".a.b"},
		{cty.GetAttrPath("a").IndexInt(0).IndexString(`x"y`), `.a[0]["x\"y"]`},
		{cty.GetAttrPath("a").Index(cty.NumberFloatVal(1.5)), ".a[1.5]"},
		{cty.GetAttrPath("a").Index(cty.EmptyObjectVal).GetAttr("b"), ".a[...].b"},
		{cty.GetAttrPath("a").Index(cty.UnknownVal(cty.String)), ".a[(not yet known)]"},
		{cty.GetAttrPath("a").Index(cty.NullVal(cty.String)), ".a[null]"},
		{cty.GetAttrPath("a").Index(cty.StringVal("s").Mark(marks.Sensitive)), `.a["s"]`},
	} {
		if got := schema.FormatPath(test.path); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
	if got := schema.FormatError(cty.GetAttrPath("a").NewErrorf("is wrong")); got != ".a: is wrong" {
		t.Error(got)
	}
}

const computing = `
	id   string computed
	name string required
	oc   string optional computed
	one single optional {
		c string computed
	}
	made list computed {
		a string computed
	}
	l block list {
		a string optional
		c string computed
	}
	s block set {
		a string optional
		c string computed
	}
	m block map {
		a string optional
		c string computed
	}
	g block group {
		c string optional computed
	}
`

func TestSetUnknowns(t *testing.T) {
	b := schematest.Block(t, computing)
	for _, test := range []struct{ in, want string }{
		{"", "null"},
		{`{name = "n"}`, `{id = unknown, made = unknown, name = "n", oc = unknown, g = {c = unknown}}`},
		{`{name = "n", id = "x", oc = "y", made = [], g = {c = "z"}}`, `{id = "x", made = [], name = "n", oc = "y", g = {c = "z"}}`},
		{`{id = "x", oc = "y", made = [{}], one = {}, l = [{a = "1"}, {c = "2"}], s = [{a = "1"}], m = {k = {}}, g = {c = "z"}}`,
			`{id = "x", made = [{a = unknown}], oc = "y", one = {c = unknown}, g = {c = "z"}, l = [{a = "1", c = unknown}, {c = "2"}], m = {"k" = {c = unknown}}, s = [{a = "1", c = unknown}]}`},
	} {
		if got := schematest.Text(b, b.SetUnknowns(schematest.Value(t, b, test.in))); got != test.want {
			t.Errorf("%s\ngot  %s\nwant %s", test.in, got, test.want)
		}
	}
}

func TestPlannedDataResourceObject(t *testing.T) {
	b := schematest.Block(t, computing)
	for _, test := range []struct{ in, want string }{
		{`{name = "n"}`, `{id = unknown, made = unknown, name = "n", oc = unknown, g = {c = unknown}}`},
		{`{name = unknown, oc = "y", one = {}, l = [{a = "1"}], s = [{a = "1"}], m = {k = {}}}`,
			`{id = unknown, made = unknown, name = unknown, oc = "y", one = {c = unknown}, g = {c = unknown}, l = [{a = "1", c = unknown}], m = {"k" = {c = unknown}}, s = [{a = "1", c = unknown}]}`},
	} {
		v := schema.PlannedDataResourceObject(b, schematest.Value(t, b, test.in))
		if got := schematest.Text(b, v); got != test.want {
			t.Errorf("%s\ngot  %s\nwant %s", test.in, got, test.want)
		}
		if errs := v.Type().TestConformance(b.ImpliedType()); len(errs) > 0 {
			t.Errorf("%s: does not conform: %v", test.in, errs)
		}
	}
}

func TestUnknownAsNull(t *testing.T) {
	b := schematest.Block(t, computing)
	for _, test := range []struct{ in, want string }{
		{`{name = "n"}`, `{name = "n"}`},
		{`{name = unknown, id = "x", one = unknown, made = [{a = unknown}]}`, `{id = "x", made = [{}]}`},
		{`{name = sensitive("n"), id = unknown}`, `{name = sensitive("n")}`},
		{`{name = sensitive(unknown)}`, `{name = sensitive(null)}`},
	} {
		if got := schematest.Text(b, schema.UnknownAsNull(schematest.Value(t, b, test.in))); got != test.want {
			t.Errorf("%s\ngot  %s\nwant %s", test.in, got, test.want)
		}
	}
}

// What is sensitive does not get into errors.
func TestContractErrorsShowNothingSensitive(t *testing.T) {
	b := schematest.Block(t, `
		a string optional computed
		s string optional computed sensitive
		o single optional sensitive {
			a string optional
		}
		p list optional {
			k string optional sensitive
			a string optional
		}
		t block set {
			k string optional sensitive
			a string optional
		}
	`)
	for _, test := range []struct{ prior, config, planned, next string }{
		{`{s = "hidden"}`, `{s = "hidden"}`, `{s = "hidden2"}`, `{s = "hidden3"}`},
		{``, `{a = sensitive("hidden")}`, `{a = "hidden2"}`, `{a = "hidden3"}`},
		{``, `{o = {a = "hidden"}}`, `{o = {a = "hidden2"}}`, `{o = {a = "hidden3"}}`},
		{``, `{p = [{k = "hidden"}]}`, `{p = [{k = "hidden2"}]}`, `{p = [{k = "hidden3"}]}`},
		{``, `{}`, `{p = [{k = "hidden2"}]}`, `{p = [{k = "hidden3"}]}`},
		{``, `{t = unknown}`, `{t = [{k = "hidden2"}]}`, `{t = [{k = "hidden3"}]}`},
	} {
		planned := schematest.Value(t, b, test.planned)
		errs := schema.AssertPlanValid(b, schematest.Value(t, b, test.prior), schematest.Value(t, b, test.config), planned)
		more := schema.AssertObjectCompatible(b, marks.At(planned, marks.Sensitive, []cty.Path{cty.GetAttrPath("a")}), schematest.Value(t, b, test.next))
		if len(errs) == 0 || len(more) == 0 {
			t.Errorf("%s: %d and %d errors, want some", test.planned, len(errs), len(more))
		}
		for _, err := range append(errs, more...) {
			if strings.Contains(err.Error(), "hidden") {
				t.Errorf("%s: %s", test.planned, schema.FormatError(err))
			}
		}
	}
}

// One block serves any number of goroutines from the first call on.
func TestBlockMayBeSharedFromTheStart(t *testing.T) {
	b := schematest.Block(t, shape)
	body := parseBody(t, minimal)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			v, ds := b.Decode(body, decodeContext)
			if ds.HasErrors() || len(b.SensitivePaths(v)) > 0 || b.DecoderSpec() == nil {
				t.Errorf("decoded %#v, %s", v, ds)
			}
			if _, err := b.JSON().Append(nil, v); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// Answers that make Terraform 1.11.4 crash are errors.
func TestContractOfAnswersWithHoles(t *testing.T) {
	b := schematest.Block(t, `
		l list optional {
			a string optional sensitive
		}
		m map optional {
			a string optional
		}
		d block list {
			a string optional
		}
		k block map {
			a string optional
		}
		g block group {
			a string optional
		}
	`)
	config := schematest.Value(t, b, `{l = [{a = "x"}], m = {k = {a = "x"}}, d = [{a = "x"}], k = {k = {a = "x"}}, g = {a = "x"}}`)
	for _, test := range []struct{ answer, plan, result string }{
		{`{l = [null], m = {k = null}, d = [null], k = {k = null}, g = null}`,
			`.l[0]: planned for absence but config wants existence
.m.k: planned for absence but config wants existence
.d[0]: planned for absence but config wants existence
.g: planned for absence but config wants existence
.k.k: planned for absence but config wants existence`,
			`.l: inconsistent values for sensitive attribute
.m.k: was cty.ObjectVal(map[string]cty.Value{"a":cty.StringVal("x")}), but now null
.d[0]: was present, but now absent
.g: was present, but now absent
.k.k: was present, but now absent`},
		{`{l = [unknown], m = {k = unknown}, d = [unknown], k = {k = unknown}, g = unknown}`,
			`.l[0]: planned unknown for configured value
.m.k: planned unknown for configured value
.d[0]: element representing nested block must not be unknown itself; set nested attribute values to unknown instead
.g: attribute representing nested block must not be unknown itself; set nested attribute values to unknown instead
.k.k: element representing nested block must not be unknown itself; set nested attribute values to unknown instead`,
			`.l: inconsistent values for sensitive attribute
.m.k: was known, but now unknown
.d[0].a: was known, but now unknown
.g.a: was known, but now unknown
.k.k.a: was known, but now unknown`},
	} {
		v := schematest.Value(t, b, test.answer)
		if got := errorText(schema.AssertPlanValid(b, b.NullValue(), config, v)); got != test.plan {
			t.Errorf("plan %s\n%s\nwant\n%s", test.answer, got, test.plan)
		}
		if got := errorText(schema.AssertObjectCompatible(b, config, v)); got != test.result {
			t.Errorf("result %s\n%s\nwant\n%s", test.answer, got, test.result)
		}
		// Nothing else stumbles over them.
		b.SensitivePaths(v)
		b.SetUnknowns(v)
		schema.ProposedNew(b, v, config)
	}
}

// errorText returns errs in the order in which they come.
func errorText(errs []error) string {
	var lines []string
	for _, err := range errs {
		lines = append(lines, keyStep.ReplaceAllString(schema.FormatError(err), ".$1"))
	}
	return strings.Join(lines, "\n")
}

func TestProposedNewOfNothing(t *testing.T) {
	b := schematest.Block(t, computing)
	null, some := b.NullValue(), schematest.Value(t, b, `{name = "n"}`)
	if got := schema.ProposedNew(b, null, null); !got.IsNull() {
		t.Errorf("of nothing to nothing %#v is proposed", got)
	}
	if got := schema.ProposedNew(b, some, null); !got.RawEquals(some) {
		t.Errorf("without a configuration %#v is proposed", got)
	}
	if got := schema.ProposedNew(b, null, cty.UnknownVal(b.ImpliedType())); !got.RawEquals(b.EmptyValue()) {
		t.Errorf("of something unknown %#v is proposed", got)
	}
}

func TestProviderResource(t *testing.T) {
	m, d, e := &schema.Schema{}, &schema.Schema{}, &schema.Schema{}
	p := &schema.Provider{
		Managed: map[string]*schema.Schema{"a": m}, Data: map[string]*schema.Schema{"a": d}, Ephemeral: map[string]*schema.Schema{"a": e},
	}
	if p.Resource("managed", "a") != m || p.Resource("data", "a") != d || p.Resource("ephemeral", "a") != e ||
		p.Resource("managed", "b") != nil || p.Resource("other", "a") != nil {
		t.Error("a resource type is not found, or one that is none")
	}
}
