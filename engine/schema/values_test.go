package schema_test

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/internal/schematest"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

const secretive = `
	name   string required
	key    string optional sensitive
	token  string optional wo
	whole single optional sensitive {
		a string optional
		k string optional sensitive
	}
	one single optional {
		a string optional
		k string optional sensitive
		w string optional wo
		in single optional sensitive {
			k string optional sensitive
		}
	}
	many list optional {
		a string optional
		k string optional sensitive
		w string optional wo
	}
	some set optional {
		k string optional sensitive
	}
	named map optional {
		k string optional sensitive
	}
	disk block list {
		a string optional
		k string optional sensitive
		w string optional wo
	}
	user block set {
		k string optional sensitive
	}
	zone block map {
		k string optional sensitive
	}
	may block single {
		k string optional sensitive
	}
	plain block list {
		a string optional
	}
`

func paths(ps []cty.Path) string {
	var out []string
	for _, p := range ps {
		out = append(out, schema.FormatPath(p))
	}
	return strings.Join(out, " ")
}

func TestSensitivePaths(t *testing.T) {
	b := schematest.Block(t, secretive)
	for _, test := range []struct{ name, value, want string }{
		{"null", "", ".key .whole"},
		{"nulls within", "{}", ".key .whole"},
		{"a part of something sensitive", `{whole = {a = "x"}}`, ".key .whole .whole.k"},
		{"nested objects", `{one = {}, many = [{}, {a = "x"}], named = {x = {}}}`,
			`.key .many[0].k .many[1].k .named["x"].k .one.in .one.k .whole`},
		{"unknown objects", `{one = unknown, many = unknown, named = {x = unknown}}`, ".key .whole"},
		{"elements of sets", `{some = [{k = "x"}], user = [{k = "x"}]}`, ".key .some[...].k .whole .user[...].k"},
		{"blocks", `{disk = [{}, {a = "x"}], zone = {z = {}}, may = {}, plain = [{}]}`,
			`.key .whole .disk[0].k .disk[1].k .may.k .zone["z"].k`},
		{"unknown blocks", `{disk = unknown, may = unknown}`, ".key .whole"},
		{"marks do not matter", `{key = sensitive("x"), disk = [{k = sensitive("x")}]}`, ".key .whole .disk[0].k"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := schematest.Value(t, b, test.value)
			ps := b.SensitivePaths(v)
			if got := paths(ps); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			// Every path leads somewhere in a value that is not null.
			if plain, _ := v.UnmarkDeep(); !plain.IsNull() {
				for _, p := range ps {
					if _, err := p.Apply(plain); err != nil && !strings.Contains(schema.FormatPath(p), "[...]") {
						t.Errorf("%s: %s", schema.FormatPath(p), err)
					}
				}
			}
		})
	}
	if plain := schematest.Block(t, "a string optional\nb block list {\n a string optional\n}"); plain.ContainsSensitive() || plain.SensitivePaths(plain.EmptyValue()) != nil {
		t.Error("a schema without anything sensitive has sensitive paths")
	}
}

func TestWriteOnly(t *testing.T) {
	b := schematest.Block(t, secretive)
	for _, test := range []struct{ name, value, without, set string }{
		{"null", "", "null", ""},
		{"none set", `{name = "n"}`, `{name = "n"}`, ""},
		{"set", `{name = "n", token = "t"}`, `{name = "n"}`, ".token"},
		{"unknown", `{name = "n", token = unknown}`, `{name = "n"}`, ".token"},
		{"nested", `{one = {a = "x", w = "y"}, many = [{w = "y"}, {a = "x"}]}`, `{many = [{}, {a = "x"}], one = {a = "x"}}`, ".many[0].w .one.w"},
		{"blocks", `{disk = [{a = "x"}, {w = "y"}]}`, `{disk = [{a = "x"}, {}]}`, ".disk[1].w"},
		{"marked", `{key = sensitive("k"), token = ephemeral("t"), disk = [{a = sensitive("x"), w = ephemeral("y")}]}`,
			`{key = sensitive("k"), disk = [{a = sensitive("x")}]}`, ".token .disk[0].w"},
		{"unknown parts", `{one = unknown, many = [unknown], disk = unknown}`, `{many = [unknown], one = unknown, disk = unknown}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := schematest.Value(t, b, test.value)
			if got := schematest.Text(b, b.WithoutWriteOnly(v)); got != test.without {
				t.Errorf("without write-only attributes\n%s\nwant\n%s", got, test.without)
			}
			if got := paths(b.WriteOnlyValues(v)); got != test.set {
				t.Errorf("write-only values %q, want %q", got, test.set)
			}
			if ps := b.WriteOnlyValues(b.WithoutWriteOnly(v)); len(ps) > 0 {
				t.Errorf("write-only values stayed: %s", paths(ps))
			}
		})
	}
}

func TestCheckEphemeral(t *testing.T) {
	b := schematest.Block(t, secretive)
	for _, test := range []struct{ name, value, want string }{
		{"none", `{name = sensitive("n")}`, ""},
		{"write-only", `{token = ephemeral("t"), one = {w = ephemeral("t")}, many = [{w = ephemeral("x")}], disk = [{w = ephemeral("x")}]}`, ""},
		{"plain", `{name = ephemeral("n")}`, `"name" .name`},
		{"both", `{name = ephemeral(sensitive("n")), key = ephemeral("k")}`, `"key" .key "name" .name`},
		{"nested", `{one = {a = ephemeral("x")}, many = [{}, {a = ephemeral("x")}]}`, `"many[1].a" .many[1].a "one.a" .one.a`},
		{"blocks", `{disk = [{a = ephemeral("x")}], zone = {z = {k = ephemeral("x")}}}`, `"disk[0].a" .disk[0].a "zone[\"z\"].k" .zone["z"].k`},
		{"sets", `{some = [{k = ephemeral("x")}], user = [{k = ephemeral("x")}]}`, `"some" .some "user" .user`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, d := range b.CheckEphemeral(schematest.Value(t, b, test.value)) {
				what := strings.TrimPrefix(d.Detail, "Ephemeral values are not valid for ")
				what, _, _ = strings.Cut(what, ", because")
				got = append(got, what+" "+schema.FormatPath(d.Attribute))
			}
			// The order of paths is cty's, which is that of names.
			if s := strings.Join(got, " "); s != test.want {
				t.Errorf("got %s, want %s", s, test.want)
			}
		})
	}
}

func TestCoerce(t *testing.T) {
	b := schematest.Block(t, `
		name string required
		size number optional
		id   string computed
		spec single optional {
			a string required
			b string optional computed
		}
		disk block list 1..3 {
			gb number required
		}
		set block set {
			a string optional
		}
		zone block map {
			a string optional
		}
		g block group {
			a string optional
		}
		may block single {
			a string required
		}
		any block list {
			a any optional
		}
		named block map {
			a any optional
		}
	`)
	object := func(kv ...any) cty.Value {
		m := map[string]cty.Value{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i].(string)] = kv[i+1].(cty.Value)
		}
		return cty.ObjectVal(m)
	}
	str, num := cty.StringVal, cty.NumberIntVal
	tuple := func(vs ...cty.Value) cty.Value { return cty.TupleVal(vs) }
	secret := str("n").Mark(marks.Sensitive)
	for _, test := range []struct {
		name string
		in   cty.Value
		want string // the value, or the error
	}{
		{"filled in", object("name", str("n")), `{name = "n"}`},
		{"null", cty.NullVal(cty.DynamicPseudoType), `null`},
		{"unknown", cty.DynamicVal, `unknown`},
		{"converted", object("name", num(1), "size", str("5")), `{name = "1", size = 5}`},
		{"nested", object("name", str("n"), "spec", object("a", num(1))), `{name = "n", spec = {a = "1"}}`},
		{"blocks", object("name", str("n"), "disk", tuple(object("gb", str("1"))), "set", tuple(object(), object()), "zone", object("z", object())),
			`{name = "n", disk = [{gb = 1}], set = [{}], zone = {"z" = {}}}`},
		{"blocks of any type", object("name", str("n"), "any", tuple(object("a", num(1)), object()), "named", object("k", object("a", str("x")))),
			`{name = "n", any = [{a = 1}, {}], named = {"k" = {a = "x"}}}`},
		{"blocks unknown and null", object("name", str("n"), "disk", cty.DynamicVal, "set", cty.NullVal(cty.DynamicPseudoType)), `{name = "n", disk = unknown, set = null}`},
		{"no blocks", object("name", str("n"), "disk", cty.EmptyTupleVal, "zone", cty.EmptyObjectVal), `{name = "n"}`},
		{"marks", object("name", secret, "disk", tuple(object("gb", num(1).Mark(marks.Sensitive))).Mark(marks.Ephemeral)),
			`{name = sensitive("n"), disk = ephemeral([{"gb" = sensitive(1)}])}`},
		{"missing", object("size", num(1)), `error: attribute "name" is required`},
		{"missing in a block", object("name", str("n"), "disk", tuple(object("gb", num(1)), object())), `error: .disk[1]: attribute "gb" is required`},
		{"too many", object("name", str("n"), "nam", str("n")), `error: unsupported attribute "nam"`},
		{"wrong type", object("name", tuple()), `error: .name: string required, but have tuple`},
		{"wrong type within", object("name", str("n"), "disk", tuple(object("gb", str("x")))), `error: .disk[0].gb: a number is required`},
		{"wrong kind", object("name", str("n"), "disk", object()), `error: .disk: must be a list`},
		{"wrong kind of map", object("name", str("n"), "zone", tuple()), `error: .zone: must be a map`},
		{"not blocks", object("name", str("n"), "set", num(1)), `error: .set: must be a set`},
		{"not an object", num(1), `error: an object is required`},
		{"not an object within", object("name", str("n"), "may", num(1)), `error: .may: an object is required`},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, err := b.Coerce(test.in)
			if err != nil {
				if got := "error: " + schema.FormatError(err); got != test.want {
					t.Errorf("got %s, want %s", got, test.want)
				}
				return
			}
			if got := schematest.Text(b, v); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if errs := v.Type().TestConformance(b.ImpliedType()); len(errs) > 0 {
				t.Errorf("does not conform: %v", errs)
			}
			if again, err := b.Coerce(v); err != nil || !again.RawEquals(v) {
				t.Errorf("coerced again it is %#v, %v", again, err)
			}
		})
	}
}

func TestNormalizeFromLegacySDK(t *testing.T) {
	b := schematest.Block(t, `
		n string optional
		l block list {
			a string optional
			in block set {
				b string optional
			}
		}
		s block set {
			a string optional
		}
		g block group {
			a string optional
		}
		o block single {
			a string optional
			in block list {
				b string optional
			}
		}
		m block map {
			a string optional
		}
	`)
	for _, test := range []struct{ name, in, want string }{
		{"gone", "", "null"},
		{"as it should be", `{n = "x", l = [{a = "1"}], o = {}}`, `{n = "x", l = [{a = "1"}], o = {}}`},
		{"null", `{n = "x", l = null, s = null, g = null, o = null, m = null}`, `{n = "x", m = null}`},
		{"null within", `{l = [{in = null}], o = {in = null}}`, `{l = [{}], o = {}}`},
		{"unknown", `{l = unknown, s = unknown, g = unknown, o = unknown}`,
			`{g = {a = unknown}, l = [{a = unknown, in = [{b = unknown}]}], o = {a = unknown, in = [{b = unknown}]}, s = [{a = unknown}]}`},
		{"marked", `{n = sensitive("x"), s = null}`, `{n = sensitive("x")}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := schema.NormalizeFromLegacySDK(schematest.Value(t, b, test.in), b)
			if got := schematest.Text(b, v); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if !schema.NormalizeFromLegacySDK(v, b).RawEquals(v) {
				t.Error("normalizing again changes it again")
			}
		})
	}
}
