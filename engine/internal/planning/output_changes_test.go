package planning

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// outputValue reads a text: "?" is unknown, "null" a null string, "nil" a null of any type, "half" an object with
// an unknown part, "precise" and "short" are the number 1 with two precisions, anything else is a string.
func outputValue(text string) cty.Value {
	switch text {
	case "?":
		return cty.UnknownVal(cty.String)
	case "null":
		return cty.NullVal(cty.String)
	case "nil":
		return cty.NullVal(cty.DynamicPseudoType)
	case "half":
		return cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("a"), "b": cty.UnknownVal(cty.String)})
	case "precise":
		return cty.MustParseNumberVal("1")
	case "short":
		return cty.NumberIntVal(1)
	}
	return cty.StringVal(text)
}

func showOutput(v cty.Value) string {
	plain, with := v.Unmark()
	text := "?"
	switch {
	case !plain.IsKnown():
	case plain.IsNull():
		text = "null"
	case plain.Type() == cty.String:
		text = plain.AsString()
	default:
		text = fmt.Sprintf("%#v", plain)
	}
	if len(with) > 0 {
		text = "*" + text
	}
	return text
}

// readOutputs returns outputs, from "name=value", with "*" before the value of a sensitive one.
func readOutputs(text string) (names []string, values map[string]cty.Value, sensitive map[string]bool) {
	values, sensitive = map[string]cty.Value{}, map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		name, v, _ := strings.Cut(word, "=")
		v, sensitive[name] = strings.CutPrefix(v, "*")
		names, values[name] = append(names, name), outputValue(v)
	}
	return names, values, sensitive
}

func outputState(text string) *states.Editor {
	e := states.Empty().Edit()
	names, values, sensitive := readOutputs(text)
	for _, n := range names {
		e.SetOutput(n, states.Output{Value: values[n], Sensitive: sensitive[n]})
	}
	return e
}

func outputTexts(list []*plans.OutputChange) string {
	var out []string
	for _, c := range list {
		out = append(out, fmt.Sprintf("%s %s %s -> %s sensitive %v", c.Name, c.Action, showOutput(c.Before), showOutput(c.After), c.Sensitive))
	}
	return strings.Join(out, "; ")
}

func TestChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, was, values, without string // without: declared, and not evaluated
		partial                    bool
		want                       string
	}{
		{"nothing", "", "", "", false, ""},
		{"one that is new", "", "o=a", "", false, "o create null -> a sensitive false"},
		{"one that is the same", "o=a", "o=a", "", false, "o no-op a -> a sensitive false"},
		{"another value", "o=a", "o=b", "", false, "o update a -> b sensitive false"},
		{"not known yet", "o=a", "o=?", "", false, "o update a -> ? sensitive false"},
		{"null, and it never was", "", "o=null", "", false, "o no-op null -> null sensitive false"},
		{"null, and it was null", "o=nil", "o=null", "", false, "o no-op null -> null sensitive false"},
		{"null no more", "o=null", "o=a", "", false, "o update null -> a sensitive false"},
		{"null now", "o=a", "o=null", "", false, "o update a -> null sensitive false"},
		{"sensitive now", "o=a", "o=*a", "", false, "o update a -> *a sensitive true"},
		{"sensitive no more", "o=*a", "o=a", "", false, "o update *a -> a sensitive true"},
		{"sensitive as before", "o=*a", "o=*a", "", false, "o no-op *a -> *a sensitive true"},
		{"not declared any more", "o=a p=*b", "", "", false, "o delete a -> null sensitive false; p delete *b -> null sensitive true"},
		{"but only a part is planned", "o=a", "", "", true, ""},
		{"declared, without a value", "o=a", "", "o", false, ""},
		{"sorted", "b=1", "c=1 a=1", "", false, "a create null -> 1 sensitive false; b delete 1 -> null sensitive false; c create null -> 1 sensitive false"},
		{"the same number, as another object", "o=precise", "o=short", "", false, "o no-op cty.NumberIntVal(1) -> cty.NumberIntVal(1) sensitive false"},
	} {
		names, values, sensitive := readOutputs(c.values)
		declared := map[string]*config.Output{}
		for _, n := range append(strings.Fields(c.without), names...) {
			declared[n] = &config.Output{Name: n, Sensitive: sensitive[n]}
		}
		for n := range values {
			if sensitive[n] {
				values[n] = values[n].Mark(marks.Sensitive)
			}
		}
		changes := outputChanges(outputInput{Declared: declared, Values: values, Was: outputState(c.was).State(), Partial: c.partial})
		got := outputTexts(changes)
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestDeletions(t *testing.T) {
	t.Parallel()
	if got, want := outputTexts(outputDeletions(outputState("p=*b o=a").State(), outputState("o=x q=c").State())),
		"o delete a -> null sensitive false; p delete *b -> null sensitive true; q delete c -> null sensitive false"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestForesee records values in a state that has o=a.
func TestForesee(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ value, want string }{
		{"b", "o=b"}, {"?", "o=a"}, {"half", "o=a"}, {"null", ""},
	} {
		e := outputState("o=a")
		foreseeOutput(e, &config.Output{Name: "o"}, outputValue(c.value))
		var got []string
		for name, o := range e.State().Outputs() {
			got = append(got, name+"="+showOutput(o.Value))
		}
		slices.Sort(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.value, got, c.want)
		}
	}
}
