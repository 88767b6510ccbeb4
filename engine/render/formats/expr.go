package formats

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/marks"
)

// expressionJSON is an expression in the JSON plan format: its value if the value is constant, and its
// references.
type expressionJSON struct {
	Constant   json.RawMessage `json:"constant_value,omitempty"`
	References []string        `json:"references,omitempty"`
}

// expression describes x; the result is nil if x is nil.
func expression(x hcl.Expression) *expressionJSON {
	if x == nil {
		return nil
	}
	out := &expressionJSON{}
	// An expression may have a constant value in spite of errors, such as a condition with
	// the same number on both sides. Terraform ignores the errors here.
	if v, _ := x.Value(nil); v != cty.NilVal && v.IsWhollyKnown() {
		out.Constant = Plain(marks.Plain(v))
	}
	for _, t := range x.Variables() {
		out.References = append(out.References, references(t)...)
	}
	return out
}

// repetition returns the JSON of a count or for_each expression. It is nil if the expression has neither a
// constant value nor references.
func repetition(x hcl.Expression) *expressionJSON {
	out := expression(x)
	if out != nil && out.Constant == nil && out.References == nil {
		return nil
	}
	return out
}

// subjects returns, as text, the address of the object that each reference names, such as aws_instance.a[0] for
// aws_instance.a[0].tags.x.
func subjects(ts []hcl.Traversal) []string {
	var out []string
	for _, t := range ts {
		n, _ := subject(t)
		out = append(out, traversalText(t[:n]))
	}
	return out
}

// references returns the references of a traversal in Terraform's order: the whole traversal, then without
// its last step, and so on to the object that it names. After the object comes the object without its
// instance key, or the module call of an output. For example:
//
//	aws_instance.a[0].tags.x  -> aws_instance.a[0].tags.x, aws_instance.a[0].tags,
//	                             aws_instance.a[0], aws_instance.a
//	module.m.id.x             -> module.m.id.x, module.m.id, module.m
//	var.a.b                   -> var.a.b, var.a
//
// Source: https://developer.hashicorp.com/terraform/internals/json-format#expression-representation
func references(t hcl.Traversal) []string {
	n, wider := subject(t)
	var out []string
	for i := len(t); i >= n; i-- {
		out = append(out, traversalText(t[:i]))
	}
	for _, n := range wider {
		out = append(out, traversalText(t[:n]))
	}
	return out
}

// subject returns the number of steps of t that name its object, and the numbers of steps of the wider objects
// that are listed after it. For aws_instance.a[0].id these are 3 (aws_instance.a[0]) and 2 (aws_instance.a).
func subject(t hcl.Traversal) (n int, wider []int) {
	at := func(i int) bool { _, ok := indexStep(t, i); return ok }
	switch t.RootName() {
	case "self":
		return 1, nil
	case "var", "local", "each", "count", "path", "terraform":
		return min(2, len(t)), nil
	case "module":
		call := 2
		if at(2) {
			call = 3
		}
		if len(t) > call {
			if _, ok := t[call].(hcl.TraverseAttr); ok {
				return call + 1, []int{call}
			}
		}
		if call == 3 {
			return call, []int{2}
		}
		return min(2, len(t)), nil
	case "data", "ephemeral", "resource":
		n = 3
	default:
		n = 2
	}
	if n >= len(t) {
		return len(t), nil
	}
	if at(n) {
		return n + 1, []int{n}
	}
	return n, nil
}

// indexStep returns the key at step i; the result is false if the step is not an index.
func indexStep(t hcl.Traversal, i int) (cty.Value, bool) {
	if i < len(t) {
		if x, ok := t[i].(hcl.TraverseIndex); ok {
			return x.Key, true
		}
	}
	return cty.NilVal, false
}

// traversalText returns a traversal as a configuration spells it.
func traversalText(t hcl.Traversal) string {
	var b strings.Builder
	for _, step := range t {
		switch s := step.(type) {
		case hcl.TraverseRoot:
			b.WriteString(s.Name)
		case hcl.TraverseAttr:
			b.WriteByte('.')
			b.WriteString(s.Name)
		case hcl.TraverseIndex:
			switch k := s.Key; {
			case !k.IsKnown() || k.IsNull():
				b.WriteString("[...]")
			case k.Type() == cty.String:
				fmt.Fprintf(&b, "[%q]", k.AsString())
			case k.Type() == cty.Number:
				b.WriteByte('[')
				b.WriteString(k.AsBigFloat().Text('g', 10))
				b.WriteByte(']')
			default:
				b.WriteString("[...]")
			}
		case hcl.TraverseSplat:
			b.WriteString("[*]")
		}
	}
	return b.String()
}
