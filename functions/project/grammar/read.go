package grammar

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// A Value is the value of an argument, in the form of its [Kind]. The zero value is empty.
type Value struct {
	At hcl.Range

	value cty.Value
	items map[string]hcl.Range
	list  []hcl.Range
}

// Read reads a block's arguments. If there are errors, it returns the arguments that have none. Expressions are
// literals, without variables and functions.
func Read(b Block, body hcl.Body) (map[string]Value, hcl.Diagnostics) {
	content, ds := b.Content(body)
	out := map[string]Value{}
	for _, arg := range b.Args {
		a := content.Attributes[arg.Name]
		if a == nil {
			continue
		}
		v, more := arg.Read(a)
		if ds = append(ds, more...); !more.HasErrors() {
			out[arg.Name] = v
		}
	}
	return out, ds
}

// Content returns the block's content. Errors about unexpected content end with the remedy.
func (b Block) Content(body hcl.Body) (*hcl.BodyContent, hcl.Diagnostics) {
	return remedied(body, b.Body(), b.Remedy())
}

func remedied(body hcl.Body, schema *hcl.BodySchema, remedy string) (*hcl.BodyContent, hcl.Diagnostics) {
	content, ds := body.Content(schema)
	for _, d := range ds {
		if strings.HasPrefix(d.Summary, "Unsupported") {
			d.Detail = strings.TrimSpace(d.Detail + " " + remedy)
		}
	}
	return content, ds
}

// Contents returns the content of the whole file. Errors about unexpected content end with a remedy.
func Contents(name string, body hcl.Body) (*hcl.BodyContent, hcl.Diagnostics) {
	schema, remedy := whole(name)
	return remedied(body, schema, remedy)
}

// Read returns the value of the argument. A value of another form is an error.
func (arg Argument) Read(a *hcl.Attribute) (Value, hcl.Diagnostics) {
	at := a.Expr.Range()
	v, ds := a.Expr.Value(nil)
	if ds.HasErrors() {
		return Value{}, ds
	}
	out := Value{At: at, value: v, items: ranges(a.Expr)}
	if list, more := hcl.ExprList(a.Expr); !more.HasErrors() {
		for _, e := range list {
			out.list = append(out.list, e.Range())
		}
	}
	if v.IsNull() || !v.IsWhollyKnown() {
		return Value{}, refused(at, "Invalid value", "The argument %q must be %s, not null.", arg.Name, arg.Kind)
	}
	if !arg.Kind.fits(v) {
		return Value{}, refused(at, "Invalid value", "The argument %q must be %s.", arg.Name, arg.Kind)
	}
	if arg.Kind == text && arg.OneOf != nil && !slices.Contains(arg.OneOf, v.AsString()) {
		return Value{}, refused(at, "Invalid value", "The argument %q can be \"%s\" only.", arg.Name, strings.Join(arg.OneOf, "\" or \""))
	}
	return out, nil
}

func refused(at hcl.Range, summary, detail string, args ...any) hcl.Diagnostics {
	return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: &at}}
}

// String returns a description of the form for errors, such as "a list of texts".
func (k Kind) String() string {
	switch k {
	case boolean:
		return "true or false"
	case texts:
		return "a list of texts: [\"...\", \"...\"]"
	case dict:
		return "texts by names: { NAME = \"...\" }"
	case values:
		return "values by names: { NAME = ... }"
	case number:
		return "a whole number"
	case numbers:
		return "whole numbers by names: { NAME = 1 }"
	case files:
		return "a list of files, [\"...\"], or values by names, { NAME = ... }"
	}
	return "a text"
}

// fits reports whether a value has the form. The value must be known and not null.
func (k Kind) fits(v cty.Value) bool {
	list, object := v.Type().IsTupleType(), v.Type().IsObjectType()
	switch k {
	case boolean:
		_, err := convert.Convert(v, cty.Bool)
		return err == nil
	case texts:
		return list && each(v, isText)
	case dict:
		return object && each(v, isText)
	case values:
		return object
	case files:
		return object || list && each(v, isText)
	case number:
		return isWhole(v)
	case numbers:
		return object && each(v, isWhole)
	}
	return isText(v)
}

func isText(v cty.Value) bool { return v.Type() == cty.String }

func isWhole(v cty.Value) bool { return v.Type() == cty.Number && v.AsBigFloat().IsInt() }

// each reports whether the function fits returns true for all elements of a value. It returns false for null.
func each(v cty.Value, fits func(cty.Value) bool) bool {
	for it := v.ElementIterator(); it.Next(); {
		if _, x := it.Element(); x.IsNull() || !fits(x) {
			return false
		}
	}
	return true
}

// ranges returns the ranges of an object's items.
func ranges(e hcl.Expression) map[string]hcl.Range {
	out := map[string]hcl.Range{}
	pairs, ds := hcl.ExprMap(e)
	if ds.HasErrors() {
		return out
	}
	for _, p := range pairs {
		if k, ds := p.Key.Value(nil); !ds.HasErrors() && !k.IsNull() && k.Type() == cty.String {
			out[k.AsString()] = hcl.RangeBetween(p.Key.Range(), p.Value.Range())
		}
	}
	return out
}

// Text returns the value of a text.
func (v Value) Text() string {
	if v.value == cty.NilVal || v.value.Type() != cty.String {
		return ""
	}
	return v.value.AsString()
}

// Number returns a whole number, or the nearest number that fits into an int. It returns 0 for other values.
func (v Value) Number() int {
	if v.value == cty.NilVal || v.value.Type() != cty.Number {
		return 0
	}
	n, _ := v.value.AsBigFloat().Int64()
	return int(max(math.MinInt, min(n, math.MaxInt)))
}

// List returns the values of a list. For another value it returns none.
func (v Value) List() []Value {
	var out []Value
	if v.value == cty.NilVal || !v.value.Type().IsTupleType() {
		return nil
	}
	for i, x := range v.value.AsValueSlice() {
		at := v.At
		if i < len(v.list) {
			at = v.list[i]
		}
		out = append(out, Value{At: at, value: x})
	}
	return out
}

// Items returns the values of an object by name, sorted by name. For a list it returns no values.
func (v Value) Items() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v.value == cty.NilVal || !v.value.Type().IsObjectType() {
			return
		}
		for it := v.value.ElementIterator(); it.Next(); {
			name, x := it.Element()
			at, ok := v.items[name.AsString()]
			if !ok {
				at = v.At
			}
			if !yield(name.AsString(), Value{At: at, value: x}) {
				return
			}
		}
	}
}

// Literal returns the value of an expression, without variables and functions, as JSON.
func Literal(e hcl.Expression) (json.RawMessage, hcl.Diagnostics) {
	v, ds := e.Value(nil)
	if ds.HasErrors() {
		return nil, ds
	}
	return encoded(v), ds
}

// encoded returns a literal as JSON.
func encoded(v cty.Value) json.RawMessage {
	data, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		panic(err) // cannot happen: a literal has no marks and no unknown parts
	}
	return data
}

// JSON returns the values by name, each as JSON; nil if there are none.
func (v Value) JSON() map[string]json.RawMessage {
	var out map[string]json.RawMessage
	for name, x := range v.Items() {
		if out == nil {
			out = map[string]json.RawMessage{}
		}
		out[name] = encoded(x.value)
	}
	return out
}
