package funcs

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/engine/internal/converting"
)

// TestSignatures compares the table with the signatures that Terraform 1.11.4 tells
// of itself. list and map, which are only there to say that they are gone, are
// not among those, nor are type and OpenTofu's.
func TestSignatures(t *testing.T) {
	raw, err := os.ReadFile("testdata/signatures.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for name, f := range Table(Scope{}) {
		if _, added := additions(Scope{})[name]; added {
			continue
		}
		if !strings.HasPrefix(name, namespace) && name != "list" && name != "map" {
			got = append(got, name+signature(f))
		}
	}
	slices.Sort(got)
	want := strings.Split(strings.TrimSpace(string(raw)), "\n")
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func signature(f function.Function) string {
	var params []string
	for _, p := range f.Params() {
		params = append(params, p.Name+" "+parameterType(p))
	}
	if p := f.VarParam(); p != nil {
		params = append(params, p.Name+"... "+parameterType(*p))
	}
	return "(" + strings.Join(params, ", ") + ")"
}

func parameterType(p function.Parameter) string {
	var ty string
	switch {
	case p.Type == customdecode.ExpressionClosureType && p.Name == "template":
		ty = "string" // of what the expression gives
	case p.Type == customdecode.ExpressionClosureType, p.Type == cty.DynamicPseudoType, p.Type == converting.TargetType:
		ty = "dynamic"
	default:
		ty = strings.NewReplacer("(any)", "(dynamic)").Replace(FormatConstraint(p.Type))
	}
	if p.AllowNull {
		ty += " or null"
	}
	return ty
}

// FormatConstraint writes a type on one line.
func FormatConstraint(ty cty.Type) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(FormatType(ty), ",\n", "\n")), "")
}

func TestEveryNameHasItsCoreTwin(t *testing.T) {
	table := Table(Scope{ConsoleMode: true})
	for name := range maps.Keys(table) {
		if _, ok := table[namespace+strings.TrimPrefix(name, namespace)]; !ok {
			t.Errorf("%s%s is missing", namespace, name)
		}
	}
}

func TestConsoleHasTypeForPlantimestamp(t *testing.T) {
	for _, console := range []bool{false, true} {
		table := Table(Scope{ConsoleMode: console})
		_, hasType := table["type"]
		_, hasTime := table["plantimestamp"]
		if hasType != console || hasTime == console {
			t.Errorf("console %v: type %v, plantimestamp %v", console, hasType, hasTime)
		}
	}
}

// TestNothingCrashes calls every function with every pair and many triples of
// values of every kind: errors are answers, panics are not.
func TestNothingCrashes(t *testing.T) {
	str, num := cty.StringVal, func(n int64) cty.Value { return cty.NumberIntVal(n) }
	sensitive := func(v cty.Value) cty.Value { return v.Mark(marks.Sensitive) }
	pool := []cty.Value{
		cty.NullVal(cty.DynamicPseudoType), cty.NullVal(cty.String), cty.DynamicVal,
		cty.UnknownVal(cty.String), cty.UnknownVal(cty.List(cty.String)).RefineNotNull(),
		cty.UnknownVal(cty.Number), cty.UnknownVal(cty.Map(cty.Number)),
		str(""), str("a"), str("2026-01-02T03:04:05Z"), str("10.0.0.0/8"), str("%s %d"),
		num(0), num(-1), num(2), cty.NumberFloatVal(-1.5), cty.True, cty.PositiveInfinity,
		cty.EmptyTupleVal, cty.TupleVal([]cty.Value{num(1), str("x")}), cty.EmptyObjectVal,
		cty.TupleVal([]cty.Value{cty.NullVal(cty.DynamicPseudoType)}),
		cty.ListValEmpty(cty.String), cty.ListVal([]cty.Value{str("a"), cty.UnknownVal(cty.String)}),
		cty.SetVal([]cty.Value{str("a"), cty.UnknownVal(cty.String)}),
		cty.MapVal(map[string]cty.Value{"a": cty.NullVal(cty.List(cty.String))}),
		cty.ObjectVal(map[string]cty.Value{"a": num(1), "b": sensitive(str("x"))}),
		sensitive(cty.ListVal([]cty.Value{str("a")})), sensitive(cty.UnknownVal(cty.Number)),
	}
	for name, f := range Table(Scope{BaseDir: t.TempDir(), ConsoleMode: true}) {
		if takesExpressions(f) || strings.HasPrefix(name, namespace) || name == "bcrypt" {
			continue
		}
		least, most := len(f.Params()), len(f.Params())
		if f.VarParam() != nil {
			most = max(2, least+1)
		}
		for n := least; n <= most; n++ {
			tryAll(t, name, f, make([]cty.Value, 0, n), n, pool)
		}
	}
}

func takesExpressions(f function.Function) bool {
	params := f.Params()
	if p := f.VarParam(); p != nil {
		params = append(params, *p)
	}
	return slices.ContainsFunc(params, func(p function.Parameter) bool { return p.Type == customdecode.ExpressionClosureType })
}

func tryAll(t *testing.T, name string, f function.Function, args []cty.Value, n int, pool []cty.Value) {
	t.Helper()
	if len(args) < n {
		for i, v := range pool {
			if len(args) < 2 || i%3 == 0 {
				tryAll(t, name, f, append(args, v), n, pool)
			}
		}
		return
	}
	args = slices.Clone(args)
	for i, p := range f.Params() {
		args[i] = converted(args[i], p)
	}
	for i := len(f.Params()); i < n; i++ {
		args[i] = converted(args[i], *f.VarParam())
	}
	var crash function.PanicError
	if _, err := f.Call(args); errors.As(err, &crash) {
		t.Errorf("%s%#v: %v\n%s", name, args, crash.Value, crash.Stack)
	}
}

// converted is what a parameter gets when the language passes it v, or v itself if
// the call fails before it is made.
func converted(v cty.Value, p function.Parameter) cty.Value {
	if out, err := convert.Convert(v, p.Type); err == nil {
		return out
	}
	return v
}
