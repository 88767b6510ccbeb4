package causes

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/refs"
)

// A part is a part of an expression that makes the value at a path.
type part struct {
	expr hcl.Expression
	// rest leads from the value of expr, which is then a reference, to the value at the path.
	rest cty.Path
	// lacks is the key that expr, an object, does not have; "" if it is not searched for a key.
	lacks string
}

// throughArguments are the functions whose result has, at a path, a value from the same path of an argument.
var throughArguments = []string{"merge", "tomap", "tolist", "toset", "try", "coalesce", "sensitive", "nonsensitive", "ephemeralasnull"}

// An index has the elements of an object or list constructor by key. It is made once for each constructor, which
// may have an element for each of thousands of instances.
type index struct {
	items []hcl.Expression          // of a list
	named map[string]hcl.Expression // elements of an object by name; elements of a list of texts by the text
}

// indexes are the indexes made so far. A nil index means that the keys are not known.
type indexes map[hcl.Expression]*index

// of returns the index of an expression; nil if it is no constructor, or has computed keys.
func (all indexes) of(e hcl.Expression) *index {
	x, known := all[e]
	if !known {
		x = newIndex(e)
		all[e] = x
	}
	return x
}

func newIndex(e hcl.Expression) *index {
	x := &index{named: map[string]hcl.Expression{}}
	if items, ds := hcl.ExprList(e); !ds.HasErrors() {
		x.items = items
		for _, item := range items {
			v := literalOf(item)
			if v == cty.NilVal || v.Type() != cty.String {
				x.named = nil
				break
			}
			x.named[v.AsString()] = item
		}
		return x
	}
	pairs, ds := hcl.ExprMap(e)
	if ds.HasErrors() {
		return nil
	}
	for _, p := range pairs {
		k := literalOf(p.Key)
		if _, native := p.Key.(hclsyntax.Expression); !native {
			k, _ = p.Key.Value(nil) // the text of a JSON key
		}
		if k == cty.NilVal || k.Type() != cty.String {
			return nil // a computed key may be any
		}
		x.named[k.AsString()] = p.Value
	}
	return x
}

// A narrowing finds the parts of an expression.
type narrowing struct {
	indexes indexes
	// key is the value of each.key, or cty.NilVal.
	key cty.Value
	// value returns the value of a condition, or cty.NilVal.
	value func(hcl.Expression) cty.Value
	out   []part
	// left is how many expressions may still be narrowed. Loops in loops could ask for any number.
	left *int
}

// maxNarrowed limits the expressions that are narrowed for one value.
const maxNarrowed = 10_000

// partsOf returns the parts of an expression that make the value at a path. A part that can only be seen as a
// whole, such as a call of a function, has no rest. key is the value of each.key; cty.NilVal if there is none.
// value returns the value of a condition; cty.NilVal if it is not known.
func (all indexes) partsOf(e hcl.Expression, path cty.Path, key cty.Value, value func(hcl.Expression) cty.Value) []part {
	left := maxNarrowed
	n := narrowing{indexes: all, key: key, value: value, left: &left}
	n.narrow(e, path)
	return n.out
}

func (n *narrowing) narrow(e hcl.Expression, path cty.Path) {
	e = hcl.UnwrapExpression(e)
	if *n.left--; *n.left <= 0 {
		return
	}
	switch x := e.(type) {
	case *hclsyntax.ParenthesesExpr:
		n.narrow(x.Expression, path)
		return
	case *hclsyntax.TemplateWrapExpr:
		n.narrow(x.Wrapped, path)
		return
	case *hclsyntax.ScopeTraversalExpr:
		n.out = append(n.out, part{expr: e, rest: path})
		return
	case *hclsyntax.RelativeTraversalExpr:
		if steps, err := refs.Path(x.Traversal); err == nil {
			n.narrow(x.Source, append(steps, path...))
			return
		}
	case *hclsyntax.IndexExpr:
		if key := n.keyOf(x.Key); key != cty.NilVal {
			n.narrow(x.Collection, append(cty.Path{cty.IndexStep{Key: key}}, path...))
			return
		}
	case *hclsyntax.ConditionalExpr:
		n.conditional(x, path)
		return
	case *hclsyntax.FunctionCallExpr:
		if n.call(x, path) {
			return
		}
	case *hclsyntax.ForExpr:
		if len(path) > 0 && n.byKey(x, path) {
			return
		}
	}
	if len(path) > 0 && n.element(e, path) {
		return
	}
	n.whole(e)
}

// conditional narrows the results of a conditional: the chosen one, or both if the condition is not known.
func (n *narrowing) conditional(x *hclsyntax.ConditionalExpr, path cty.Path) {
	n.whole(x.Condition)
	is := n.value(x.Condition)
	known := is != cty.NilVal && is.Type() == cty.Bool && is.IsKnown() && !is.IsNull()
	if !known || is.True() {
		n.narrow(x.TrueResult, path)
	}
	if !known || is.False() {
		n.narrow(x.FalseResult, path)
	}
}

// call narrows the arguments of a function whose result has parts of them. It reports whether x is such a call.
func (n *narrowing) call(x *hclsyntax.FunctionCallExpr, path cty.Path) bool {
	if x.ExpandFinal {
		return false
	}
	args := x.Args
	if x.Name == "lookup" && len(args) > 1 {
		if key := n.keyOf(args[1]); key != cty.NilVal {
			n.narrow(args[0], append(cty.Path{cty.IndexStep{Key: key}}, path...))
			for _, a := range args[2:] {
				n.narrow(a, path)
			}
			return true
		}
	}
	if len(path) == 0 || !slices.Contains(throughArguments, x.Name) {
		return false
	}
	for _, a := range args {
		n.narrow(a, path)
	}
	return true
}

func (n *narrowing) whole(e hcl.Expression) { n.out = append(n.out, part{expr: e}) }

// keyOf returns the value of an index: a literal, or each.key. It returns cty.NilVal for other expressions.
func (n *narrowing) keyOf(e hcl.Expression) cty.Value {
	if t, ok := hcl.UnwrapExpression(e).(*hclsyntax.ScopeTraversalExpr); ok && n.key != cty.NilVal && len(t.Traversal) == 2 && t.Traversal.RootName() == "each" {
		if a, ok := t.Traversal[1].(hcl.TraverseAttr); ok && a.Name == "key" {
			return n.key
		}
	}
	return literalOf(e)
}

// literalOf returns the value of an expression without references; cty.NilVal for all others.
func literalOf(e hcl.Expression) cty.Value {
	if !plain(e) {
		return cty.NilVal
	}
	v, ds := e.Value(nil)
	if ds.HasErrors() || !v.IsWhollyKnown() || v.IsNull() {
		return cty.NilVal
	}
	return v
}

// plain reports whether the evaluation of an expression costs next to nothing: it has no calls and no loops.
func plain(e hcl.Expression) bool {
	switch x := hcl.UnwrapExpression(e).(type) {
	case *hclsyntax.LiteralValueExpr, *hclsyntax.ScopeTraversalExpr:
		return true
	case *hclsyntax.ParenthesesExpr:
		return plain(x.Expression)
	case *hclsyntax.ObjectConsKeyExpr:
		return plain(x.Wrapped)
	case *hclsyntax.TemplateExpr:
		return x.IsStringLiteral()
	case *hclsyntax.UnaryOpExpr:
		return plain(x.Val)
	case *hclsyntax.BinaryOpExpr:
		return plain(x.LHS) && plain(x.RHS)
	case *hclsyntax.ConditionalExpr:
		return plain(x.Condition) && plain(x.TrueResult) && plain(x.FalseResult)
	}
	return false
}

// byKey handles { for k, v in collection : k => ... }: the value for one key comes from the element of the
// collection with the same key. It reports whether x has this form.
func (n *narrowing) byKey(x *hclsyntax.ForExpr, path cty.Path) bool {
	if x.KeyVar == "" || x.Group || x.KeyExpr == nil || hcl.ExprAsKeyword(x.KeyExpr) != x.KeyVar {
		return false
	}
	in := narrowing{indexes: n.indexes, key: n.key, value: n.value, left: n.left}
	in.narrow(x.ValExpr, path[1:])
	if x.CondExpr != nil {
		in.whole(x.CondExpr)
	}
	for _, p := range in.out {
		of, is := p.expr.(*hclsyntax.ScopeTraversalExpr)
		for _, t := range p.expr.Variables() {
			if t.RootName() != x.ValVar {
				continue
			}
			steps, err := refs.Path(t[1:])
			if err != nil {
				steps = nil
			}
			if is {
				steps = append(steps, p.rest...)
			}
			n.narrow(x.CollExpr, append(cty.Path{path[0]}, steps...))
		}
		switch {
		case is && (of.Traversal.RootName() == x.ValVar || of.Traversal.RootName() == x.KeyVar):
		case is:
			n.out = append(n.out, p)
		default:
			n.out = append(n.out, part{expr: &unbound{p.expr, []string{x.KeyVar, x.ValVar}}, lacks: p.lacks})
		}
	}
	return true
}

// element handles the constructors of objects and lists. It reports whether e is one. A text as the key of a list
// is an element of a set: toset(["a", "b"]).
func (n *narrowing) element(e hcl.Expression, path cty.Path) bool {
	key := stepKey(path[0])
	if key == cty.NilVal {
		return false
	}
	x := n.indexes.of(e)
	if x == nil {
		return false
	}
	if x.items != nil && key.Type() == cty.Number {
		at, _ := key.AsBigFloat().Int64()
		if at < 0 || at >= int64(len(x.items)) {
			return false
		}
		n.narrow(x.items[at], path[1:])
		return true
	}
	name, err := convert.Convert(key, cty.String)
	if err != nil || x.named == nil {
		return false
	}
	if found := x.named[name.AsString()]; found != nil {
		n.narrow(found, path[1:])
	} else {
		n.out = append(n.out, part{expr: e, lacks: name.AsString()})
	}
	return true
}

// stepKey returns the name or key of a step; cty.NilVal if it is not known.
func stepKey(s cty.PathStep) cty.Value {
	switch s := s.(type) {
	case cty.GetAttrStep:
		return cty.StringVal(s.Name)
	case cty.IndexStep:
		k, _ := s.Key.Unmark()
		if k.IsKnown() && !k.IsNull() && (k.Type() == cty.String || k.Type() == cty.Number) {
			return k
		}
	}
	return cty.NilVal
}

// An unbound expression is the inside of a for expression. Its references do not include the names that the for
// expression defines.
type unbound struct {
	hcl.Expression
	names []string
}

// Variables returns the references to anything but the names that the for expression defines.
func (u *unbound) Variables() []hcl.Traversal {
	return slices.DeleteFunc(u.Expression.Variables(), func(t hcl.Traversal) bool { return slices.Contains(u.names, t.RootName()) })
}
