package marks

import (
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

func TestMarks(t *testing.T) {
	t.Parallel()
	inner := cty.ObjectVal(map[string]cty.Value{
		"open":   cty.StringVal("x"),
		"secret": cty.StringVal("y").Mark(Sensitive),
		"list":   cty.ListVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b").Mark(Sensitive)}),
		"token":  cty.StringVal("t").Mark(Ephemeral),
		"both":   cty.StringVal("z").Mark(Ephemeral).Mark(Sensitive),
		"null":   cty.NullVal(cty.String).Mark(Sensitive),
	})
	for _, c := range []struct {
		name                   string
		v                      cty.Value
		has, contains, passing bool // sensitive, sensitive inside, ephemeral inside
		paths                  []string
	}{
		{"nothing", cty.NilVal, false, false, false, nil},
		{"plain", cty.StringVal("x"), false, false, false, nil},
		{"marked", cty.StringVal("x").Mark(Sensitive), true, true, false, []string{""}},
		{"inside", inner, false, true, true, []string{".both", ".list[1]", ".null", ".secret"}},
		{"otherwise", cty.StringVal("x").Mark(Ephemeral), false, false, true, nil},
		{"unknown", cty.UnknownVal(cty.String).Mark(Sensitive), true, true, false, []string{""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if Has(c.v, Sensitive) != c.has || Contains(c.v, Sensitive) != c.contains || Contains(c.v, Ephemeral) != c.passing {
				t.Errorf("%v %v %v", Has(c.v, Sensitive), Contains(c.v, Sensitive), Contains(c.v, Ephemeral))
			}
			if c.v == cty.NilVal {
				return
			}
			plain, paths := Paths(c.v, Sensitive)
			if plain.ContainsMarked() {
				t.Error("marks are left")
			}
			_, back := Paths(At(plain, Sensitive, paths), Sensitive)
			for _, list := range [][]cty.Path{paths, back} {
				if got := texts(list); !slices.Equal(got, c.paths) {
					t.Errorf("%q are sensitive, want %q", got, c.paths)
				}
			}
		})
	}
	if v := At(cty.EmptyObjectVal, Sensitive, []cty.Path{cty.GetAttrPath("gone")}); v.ContainsMarked() {
		t.Error("a path that is not there has marked something")
	}
}

// texts prints paths, sorted.
func texts(paths []cty.Path) []string {
	var out []string
	for _, p := range paths {
		text := ""
		for _, step := range p {
			switch step := step.(type) {
			case cty.GetAttrStep:
				text += "." + step.Name
			case cty.IndexStep:
				text += "[" + step.Key.AsBigFloat().String() + "]"
			}
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}

// TestAny says of each value what cty says of it.
func TestAny(t *testing.T) {
	t.Parallel()
	secret := cty.StringVal("x").Mark(Sensitive)
	object := func(v cty.Value) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("y"), "b": v})
	}
	for _, v := range []cty.Value{
		cty.StringVal("x"), secret, cty.NullVal(cty.String).Mark(Sensitive), cty.UnknownVal(cty.String).Mark(Sensitive),
		cty.DynamicVal, cty.NullVal(cty.List(cty.String)), cty.UnknownVal(cty.Map(cty.String)), cty.EmptyObjectVal,
		object(cty.StringVal("z")), object(secret), object(object(secret)), object(cty.UnknownVal(cty.EmptyObject)),
		cty.ListVal([]cty.Value{cty.StringVal("x"), secret}), cty.SetVal([]cty.Value{secret}), cty.SetVal([]cty.Value{object(cty.StringVal("z"))}),
		cty.MapVal(map[string]cty.Value{"k": secret}), cty.TupleVal([]cty.Value{cty.True, object(secret)}), cty.TupleVal([]cty.Value{cty.NullVal(cty.DynamicPseudoType)}),
	} {
		if got := Any(v); got != v.ContainsMarked() {
			t.Errorf("%#v: %v", v, got)
		}
	}
}

// TestPlain compares with what cty finds.
func TestPlain(t *testing.T) {
	t.Parallel()
	long := make([]cty.Value, len(indices)+2)
	for i := range long {
		long[i] = cty.NumberIntVal(int64(i))
	}
	marked := slices.Clone(long)
	marked[len(long)-1] = cty.NumberIntVal(1).Mark(Sensitive)
	for name, v := range map[string]cty.Value{
		"string":         cty.StringVal("x"),
		"null":           cty.NullVal(cty.List(cty.String)),
		"unknown":        cty.UnknownVal(cty.EmptyObject),
		"any":            cty.DynamicVal,
		"object":         cty.ObjectVal(map[string]cty.Value{"a": cty.ObjectVal(map[string]cty.Value{"b": cty.True.Mark(Sensitive)})}),
		"map":            cty.MapVal(map[string]cty.Value{"a": cty.StringVal("x").Mark(Ephemeral)}),
		"plain map":      cty.MapVal(map[string]cty.Value{"a": cty.StringVal("x")}),
		"set":            cty.SetVal([]cty.Value{cty.StringVal("x").Mark(Sensitive)}),
		"long list":      cty.ListVal(long),
		"long tuple":     cty.TupleVal(marked),
		"unknown tuple":  cty.TupleVal([]cty.Value{cty.DynamicVal, cty.UnknownVal(cty.String).Mark(Sensitive)}),
		"list of nulls":  cty.ListVal([]cty.Value{cty.NullVal(cty.String)}),
		"set of objects": cty.SetVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"a": cty.True})}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, _ := v.UnmarkDeep()
			if got := Plain(v); !got.RawEquals(want) {
				t.Errorf("got %#v, want %#v", got, want)
			}
			if got := Any(v); got != v.ContainsMarked() {
				t.Errorf("any marks: %t", got)
			}
		})
	}
}
