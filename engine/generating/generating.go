// Package generating writes the resource block for an existing object that is imported and has no block yet.
//
// It is a pure function from a schema and a value to text. The text is identical to Terraform's, since
// programs compare and search it. The package does not know where the object comes from and where the text
// goes. Start at [Block].
package generating

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// Block returns the resource block for an object with the value v, which is known and may have marks. Sensitive
// values are written as null, and read-only and deprecated arguments are left out. So a person has to review
// the text. Arguments and blocks whose names are no identifiers are also left out: with such a name, a provider
// could write anything. provider is the block's provider argument; "" means none.
func Block(r addrs.Resource, provider string, b *schema.Block, v cty.Value) string {
	w := &writer{}
	w.line(0, "resource %q %q {", r.Type, r.Name)
	if provider != "" {
		w.line(2, "provider = %s", provider)
	}
	w.body(2, b, v, true)
	w.line(0, "}")
	return strings.TrimSuffix(string(hclwrite.Format([]byte(w.String()))), "\n")
}

// File returns a configuration file with all the generated blocks. Before each block, a comment has the ID by
// which the object was found.
func File(blocks []Generated) []byte {
	var b strings.Builder
	// Programs recognize generated files by these lines.
	b.WriteString("# __generated__ by Terraform\n# Please review these resources and move them into your main configuration files.\n")
	for _, x := range blocks {
		from := ""
		if x.ID != "" {
			from = fmt.Sprintf(" from %q", x.ID)
		}
		fmt.Fprintf(&b, "\n# __generated__ by Terraform%s\n%s\n", from, x.Text)
	}
	return []byte(b.String())
}

// Generated is the block of one imported object.
type Generated struct {
	Addr addrs.AbsResourceInstance
	ID   string // "" if the object was found by its identity
	Text string
}

// A writer collects HCL text, which is formatted at the end.
type writer struct{ strings.Builder }

func (w *writer) line(indent int, format string, args ...any) {
	fmt.Fprintf(w, "%s"+format+"\n", append([]any{strings.Repeat(" ", indent)}, args...)...)
}

// body writes the arguments and nested blocks of a value. top is true for the body of the resource itself:
// there, the older SDK adds an argument "id" that nobody should set.
func (w *writer) body(indent int, b *schema.Block, v cty.Value, top bool) {
	for _, name := range slices.Sorted(maps.Keys(b.Attributes)) {
		a := b.Attributes[name]
		if top && name == "id" && a.Computed && a.Optional {
			continue
		}
		w.attribute(indent, name, a, v)
	}
	for _, name := range slices.Sorted(maps.Keys(b.Blocks)) {
		if n := b.Blocks[name]; !n.Block.Deprecated && hclsyntax.ValidIdentifier(name) {
			w.blocks(indent, name, n, v.GetAttr(name))
		}
	}
}

func (w *writer) attribute(indent int, name string, a *schema.Attribute, v cty.Value) {
	if !a.Required && !a.Optional || a.Deprecated || !hclsyntax.ValidIdentifier(name) {
		return
	}
	val := v.GetAttr(name)
	if a.Nested != nil {
		w.nested(indent, name, a, val)
		return
	}
	text := "null # sensitive"
	if !a.Sensitive && !marks.Any(val) {
		if a.Optional && val.Type() == cty.String && !val.IsNull() && val.AsString() == "" {
			val = cty.NullVal(cty.String) // the older SDK does not distinguish "" from null
		}
		text = expression(val)
	}
	w.line(indent, "%s = %s", name, text)
}

// expression returns a value as an expression. A text with JSON becomes a readable call of jsonencode.
func expression(v cty.Value) string {
	if v.Type() == cty.String && !v.IsNull() && json.Valid([]byte(v.AsString())) {
		var x ctyjson.SimpleJSONValue
		if x.UnmarshalJSON([]byte(v.AsString())) == nil && !x.Type().IsPrimitiveType() && x.Type() != cty.DynamicPseudoType && budget.Printable(x.Value) {
			return "jsonencode(" + literal(x.Value) + ")"
		}
	}
	return literal(v)
}

// literal returns a value as an expression of literals. hclwrite 2.25.0 writes the key "for" of an object without quotation marks. As
// the first key, it begins a for expression. See findings/hclwrite-key-for.sh.
func literal(v cty.Value) string {
	tokens := hclwrite.TokensForValue(v)
	for _, t := range tokens {
		if t.Type == hclsyntax.TokenIdent && string(t.Bytes) == "for" {
			t.Bytes = []byte(`"for"`)
		}
	}
	return string(tokens.Bytes())
}

// nested writes an attribute that has nested attributes.
func (w *writer) nested(indent int, name string, a *schema.Attribute, v cty.Value) {
	left, right := "[", "]"
	if a.Nested.Nesting == schema.NestingSingle || a.Nested.Nesting == schema.NestingMap {
		left, right = "{", "}"
	}
	sensitive := a.Sensitive || marks.Has(v, marks.Sensitive)
	switch {
	case sensitive:
		w.line(indent, "%s = %s%s # sensitive", name, left, right)
		return
	case v.IsNull():
		w.line(indent, "%s = null", name)
		return
	}
	w.line(indent, "%s = %s", name, left)
	switch a.Nested.Nesting {
	case schema.NestingSingle:
		w.attributes(indent+2, a.Nested.Attributes, v)
	case schema.NestingMap:
		for k, x := range elements(v) {
			w.line(indent+2, "%s = {%s", key(k), hidden(x, "}"))
			if !marks.Has(x, marks.Sensitive) {
				w.attributes(indent+4, a.Nested.Attributes, x)
				w.line(indent+2, "}")
			}
		}
	default:
		for _, x := range elements(v) {
			if marks.Has(x, marks.Sensitive) {
				w.line(indent+2, "{}, # sensitive")
				continue
			}
			w.line(indent+2, "{")
			w.attributes(indent+4, a.Nested.Attributes, x)
			w.line(indent+2, "},")
		}
	}
	w.line(indent, "%s", right)
}

func (w *writer) attributes(indent int, attrs map[string]*schema.Attribute, v cty.Value) {
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		w.attribute(indent, name, attrs[name], v)
	}
}

// blocks writes all nested blocks of one type.
func (w *writer) blocks(indent int, name string, n *schema.NestedBlock, v cty.Value) {
	single := n.Nesting == schema.NestingSingle || n.Nesting == schema.NestingGroup
	switch {
	case marks.Has(v, marks.Sensitive):
		w.line(indent, "%s {} # sensitive", name)
	case v.IsNull():
	case single:
		w.block(indent, name, n, v)
	default:
		for k, x := range elements(v) {
			header := name
			if n.Nesting == schema.NestingMap {
				header += " " + quoted(k)
			}
			w.block(indent, header, n, x)
		}
	}
}

func (w *writer) block(indent int, header string, n *schema.NestedBlock, v cty.Value) {
	w.line(indent, "%s {%s", header, hidden(v, "}"))
	if !marks.Has(v, marks.Sensitive) {
		w.body(indent+2, n.Block, v, false)
		w.line(indent, "}")
	}
}

// hidden returns the end of the opening line of a block or object. If the value is sensitive, the parameter
// right closes the brackets on the same line. Otherwise the result is "".
func hidden(v cty.Value, right string) string {
	if marks.Has(v, marks.Sensitive) {
		return right + " # sensitive"
	}
	return ""
}

// key returns a key as it is written in an object: as a string literal only if necessary.
func key(k cty.Value) string {
	if name := k.AsString(); hclsyntax.ValidIdentifier(name) && name != "for" {
		return name
	}
	return quoted(k)
}

// quoted returns a key as a string literal.
func quoted(k cty.Value) string { return string(hclwrite.TokensForValue(k).Bytes()) }

// elements returns the elements of a collection in their order.
func elements(v cty.Value) func(yield func(k, x cty.Value) bool) {
	return func(yield func(k, x cty.Value) bool) {
		for it := v.ElementIterator(); it.Next(); {
			if !yield(it.Element()) {
				return
			}
		}
	}
}
