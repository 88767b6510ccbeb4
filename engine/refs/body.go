package refs

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// metaBlocks are the nested blocks of a resource that its provider does not see. They are analysed
// separately.
var metaBlocks = map[string]bool{"lifecycle": true, "connection": true, "provisioner": true}

// bodyVariables returns the traversals in a body whose schema is not known. In native syntax every attribute
// at any depth is an expression; the iterators of dynamic blocks are left out. In JSON every property counts
// as an expression.
func bodyVariables(body hcl.Body) []hcl.Traversal {
	return appendTop(nil, body, nil)
}

// parted is a body that consists of several bodies: later ones override arguments and blocks of earlier ones.
type parted interface{ Parts() []hcl.Body }

// appendTop adds the traversals in the whole body of a block. It leaves out the arguments and nested blocks
// in the map hidden, since a later part of the body replaces them.
func appendTop(out []hcl.Traversal, body hcl.Body, hidden map[string]bool) []hcl.Traversal {
	whole, ok := body.(parted)
	if !ok {
		return appendBody(out, body, nil, hidden, true)
	}
	parts := whole.Parts()
	for i, p := range parts {
		below := maps.Clone(hidden)
		for _, over := range parts[i+1:] {
			below = names(below, over)
		}
		out = appendTop(out, p, below)
	}
	return out
}

// Sets reports whether the body of a block sets an argument, or has a nested block of this type. Further names
// lead into nested blocks. In JSON, only the first name is looked at.
func Sets(body hcl.Body, name string, further ...string) bool {
	if !names(nil, body)[name] {
		return false
	}
	if len(further) == 0 {
		return true
	}
	for _, b := range blocksIn(body) {
		inner := b.Body
		if b.Type == "dynamic" {
			for _, c := range b.Body.Blocks { // its content
				inner = c.Body
			}
		}
		if blockName(b) == name && Sets(inner, further[0], further[1:]...) {
			return true
		}
	}
	return !slices.ContainsFunc(blocksIn(body), func(b *hclsyntax.Block) bool { return blockName(b) == name }) // an argument, or JSON
}

// Argument returns the expression of an argument of a block; nil if the block does not have it, or is in JSON.
func Argument(body hcl.Body, name string) hcl.Expression {
	if whole, ok := body.(parted); ok {
		for _, p := range slices.Backward(whole.Parts()) {
			if names(nil, p)[name] {
				return Argument(p, name)
			}
		}
	}
	if native, ok := body.(*hclsyntax.Body); ok && native.Attributes[name] != nil {
		return native.Attributes[name].Expr
	}
	return nil
}

// Attribute returns the type and the attribute if an argument of a body is an attribute of a managed resource, and
// nothing else, as in `policy_arn = aws_iam_policy.a[each.key].arn`. For any other expression it returns "".
func Attribute(body hcl.Body, name string) (resource, attribute string) {
	x := Argument(body, name)
	var rest hcl.Traversal // behind the name of the resource
	if relative, is := x.(*hclsyntax.RelativeTraversalExpr); is {
		if index, is := hcl.UnwrapExpression(relative.Source).(*hclsyntax.IndexExpr); is {
			x, rest = index.Collection, relative.Traversal
		}
	}
	whole, is := x.(*hclsyntax.ScopeTraversalExpr)
	if !is || len(whole.Traversal) < 2 {
		return "", ""
	}
	root := whole.Traversal.RootName()
	if _, is := ambient[root]; is || slices.Contains([]string{"var", "local", "module", "data", "ephemeral", "resource", "action"}, root) {
		return "", ""
	}
	rest = slices.Concat(whole.Traversal[2:], rest)
	if len(rest) == 2 { // an instance key comes first
		if _, is := rest[0].(hcl.TraverseIndex); is {
			rest = rest[1:]
		}
	}
	if len(rest) != 1 {
		return "", ""
	}
	step, _ := rest[0].(hcl.TraverseAttr)
	return root, step.Name
}

// blocksIn returns the nested blocks of a body in native syntax.
func blocksIn(body hcl.Body) (out []*hclsyntax.Block) {
	if whole, ok := body.(parted); ok {
		for _, p := range whole.Parts() {
			out = append(out, blocksIn(p)...)
		}
	}
	if native, ok := body.(*hclsyntax.Body); ok {
		out = native.Blocks
	}
	return out
}

// names adds the names of the arguments and nested blocks of a body to set, which may be nil.
func names(set map[string]bool, body hcl.Body) map[string]bool {
	if set == nil {
		set = map[string]bool{}
	}
	switch body := body.(type) {
	case nil:
	case parted:
		for _, p := range body.Parts() {
			names(set, p)
		}
	case *hclsyntax.Body:
		for n := range body.Attributes {
			set[n] = true
		}
		for _, b := range body.Blocks {
			set[blockName(b)] = true
		}
	default:
		attrs, _ := body.JustAttributes()
		for n := range attrs {
			set[n] = true
		}
	}
	return set
}

// blockName returns the type of a block; for a dynamic block, the type of the blocks that it makes.
func blockName(b *hclsyntax.Block) string {
	if b.Type == "dynamic" && len(b.Labels) == 1 {
		return b.Labels[0]
	}
	return b.Type
}

func appendBody(out []hcl.Traversal, body hcl.Body, iterators, hidden map[string]bool, top bool) []hcl.Traversal {
	if body == nil {
		return out
	}
	native, ok := body.(*hclsyntax.Body)
	if !ok {
		return appendJSON(out, body, hidden)
	}
	// The result does not have the meta-arguments, because the decoder has already taken them from the body.
	attrs, _ := native.JustAttributes()
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		if !hidden[name] {
			out = appendExpr(out, attrs[name].Expr, iterators)
		}
	}
	for _, b := range native.Blocks {
		switch {
		case hidden[blockName(b)]:
		case top && metaBlocks[b.Type]:
		case b.Type == "dynamic" && len(b.Labels) == 1:
			out = appendDynamic(out, b, iterators)
		default:
			out = appendBody(out, b.Body, iterators, nil, false)
		}
	}
	return out
}

// appendDynamic adds the traversals in `dynamic "label" { for_each, iterator, labels, content {} }`.
func appendDynamic(out []hcl.Traversal, b *hclsyntax.Block, iterators map[string]bool) []hcl.Traversal {
	iterator := b.Labels[0]
	if a := b.Body.Attributes["iterator"]; a != nil {
		if k := hcl.ExprAsKeyword(a.Expr); k != "" {
			iterator = k
		}
	}
	inner := maps.Clone(iterators)
	if inner == nil {
		inner = map[string]bool{}
	}
	inner[iterator] = true
	for _, name := range slices.Sorted(maps.Keys(b.Body.Attributes)) {
		switch name {
		case "iterator":
		case "labels":
			out = appendExpr(out, b.Body.Attributes[name].Expr, inner)
		default:
			out = appendExpr(out, b.Body.Attributes[name].Expr, iterators)
		}
	}
	for _, c := range b.Body.Blocks {
		out = appendBody(out, c.Body, inner, nil, false)
	}
	return out
}

// dynamicContents adds the places of the contents of dynamic blocks. It adds only those dynamic blocks, of a body in native
// syntax, that may make no block.
func dynamicContents(out []hcl.Range, body hcl.Body) []hcl.Range {
	for _, b := range blocksIn(body) {
		switch {
		case b.Type != "dynamic":
			out = dynamicContents(out, b.Body)
		case makesBlocks(b):
			for _, c := range b.Body.Blocks {
				out = dynamicContents(out, c.Body)
			}
		default:
			for _, c := range b.Body.Blocks {
				out = append(out, c.Body.SrcRange)
			}
		}
	}
	return out
}

// makesBlocks reports whether a dynamic block certainly makes a block, because its for_each is a literal with elements.
func makesBlocks(dynamic *hclsyntax.Block) bool {
	a := dynamic.Body.Attributes["for_each"]
	if a == nil || len(a.Expr.Variables()) > 0 {
		return false
	}
	v, ds := a.Expr.Value(nil)
	return !ds.HasErrors() && v.IsWhollyKnown() && v.CanIterateElements() && v.LengthInt() > 0
}

func appendExpr(out []hcl.Traversal, x hcl.Expression, iterators map[string]bool) []hcl.Traversal {
	for _, t := range x.Variables() {
		if !iterators[t.RootName()] {
			out = append(out, t)
		}
	}
	return out
}

// appendJSON treats every property of a JSON body as an expression. There, the iterator of a dynamic block
// looks like a resource type. So a name that nothing declares is not reported here, but when the expression
// is evaluated.
func appendJSON(out []hcl.Traversal, body hcl.Body, hidden map[string]bool) []hcl.Traversal {
	attrs, _ := body.JustAttributes()
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		if hidden[name] {
			continue
		}
		out = append(out, attrs[name].Expr.Variables()...)
	}
	return out
}
