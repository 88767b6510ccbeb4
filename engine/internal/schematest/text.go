package schematest

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// Context has the variables and functions that the expressions of values may use.
var Context = hcl.EvalContext{
	Variables: map[string]cty.Value{"unknown": cty.DynamicVal},
	Functions: map[string]function.Function{
		"sensitive": marking(marks.Sensitive), "ephemeral": marking(marks.Ephemeral),
		"tolist": stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)), "toset": stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)),
		"tomap": stdlib.MakeToFunc(cty.Map(cty.DynamicPseudoType)),
	},
}

func marking(m marks.Mark) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{
			Name: "value", Type: cty.DynamicPseudoType,
			AllowNull: true, AllowUnknown: true, AllowMarked: true, AllowDynamicType: true,
		}},
		Type: func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return args[0].Mark(m), nil },
	})
}

// setFlag sets the flag that a word of the notation names, such as "required". It returns false if there is no
// such flag.
func setFlag(a *schema.Attribute, name string) bool {
	flag, ok := map[string]*bool{
		"required": &a.Required, "optional": &a.Optional, "computed": &a.Computed,
		"sensitive": &a.Sensitive, "wo": &a.WriteOnly, "deprecated": &a.Deprecated,
	}[name]
	if ok {
		*flag = true
	}
	return ok
}

// Text returns v, a value of b, in the notation that [Value] reads, on one line. Attributes that are null,
// and blocks that do not occur, are left out.
func Text(b *schema.Block, v cty.Value) string {
	if v.IsNull() && !v.IsMarked() {
		return "null"
	}
	return text(b.Attributes, b.Blocks, v)
}

func text(attrs map[string]*schema.Attribute, blocks map[string]*schema.NestedBlock, v cty.Value) string {
	if s, ok := leaf(v); ok {
		return s
	}
	var parts []string
	for _, name := range sorted(attrs) {
		a, av := attrs[name], v.GetAttr(name)
		if av.IsNull() && !av.IsMarked() {
			continue
		}
		s := Plain(av)
		if a.Nested != nil {
			s = several(a.Nested.Nesting, av, func(v cty.Value) string { return text(a.Nested.Attributes, nil, v) })
		}
		parts = append(parts, name+" = "+s)
	}
	for _, name := range sorted(blocks) {
		n, bv := blocks[name], v.GetAttr(name)
		if !bv.RawEquals(n.EmptyValue()) {
			s := several(n.Nesting, bv, func(v cty.Value) string { return text(n.Block.Attributes, n.Block.Blocks, v) })
			parts = append(parts, name+" = "+s)
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// several returns the text of all blocks or objects of one name.
func several(n schema.Nesting, v cty.Value, one func(cty.Value) string) string {
	if s, ok := leaf(v); ok {
		return s
	}
	if n == schema.NestingSingle || n == schema.NestingGroup {
		return one(v)
	}
	var parts []string
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		s := one(e)
		if n == schema.NestingMap {
			s = Plain(k) + " = " + s
		}
		parts = append(parts, s)
	}
	if n == schema.NestingMap {
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// Plain returns the text of any value.
func Plain(v cty.Value) string {
	if s, ok := leaf(v); ok {
		return s
	}
	var parts []string
	ty := v.Type()
	switch {
	case ty.IsObjectType() || ty.IsMapType():
		for it := v.ElementIterator(); it.Next(); {
			k, e := it.Element()
			parts = append(parts, Plain(k)+" = "+Plain(e))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case v.CanIterateElements():
		for it := v.ElementIterator(); it.Next(); {
			_, e := it.Element()
			parts = append(parts, Plain(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return string(hclwrite.TokensForValue(v).Bytes())
}

// leaf returns the text of v if v is marked, unknown or null. The result is false otherwise.
func leaf(v cty.Value) (string, bool) {
	if v.IsMarked() {
		plain, ms := v.Unmark()
		s := Plain(plain)
		for _, m := range []marks.Mark{marks.Sensitive, marks.Ephemeral} {
			if _, ok := ms[m]; ok {
				s = string(m) + "(" + s + ")"
			}
		}
		return s, true
	}
	if !v.IsKnown() {
		return "unknown", true
	}
	return "null", v.IsNull()
}

func sorted[T any](m map[string]T) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
