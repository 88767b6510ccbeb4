package refs

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// metaBlocks are the nested blocks of a resource that its provider does not see.
// They are analysed by themselves.
var metaBlocks = map[string]bool{"lifecycle": true, "connection": true, "provisioner": true}

// bodyVariables returns the traversals in a body whose schema is not known. In native syntax every
// attribute at any depth is an expression; the iterators of dynamic blocks are left out. In JSON
// every property is one.
func bodyVariables(body hcl.Body) []hcl.Traversal {
	return appendTop(nil, body, nil)
}

// parted is a body that is put together, later parts over earlier ones.
type parted interface{ Parts() []hcl.Body }

// appendTop handles the body of a block as a whole, without the arguments and nested
// blocks named in hidden: others stand in their place.
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

// names adds the names of the arguments and nested blocks of a body to a set, which may
// be nil.
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

// blockName returns the type of a block, or of those that a dynamic block makes.
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
	attrs, _ := native.JustAttributes() // without those that the meta-arguments took
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

// appendDynamic handles `dynamic "label" { for_each, iterator, labels, content {} }`.
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

func appendExpr(out []hcl.Traversal, x hcl.Expression, iterators map[string]bool) []hcl.Traversal {
	for _, t := range x.Variables() {
		if !iterators[t.RootName()] {
			out = append(out, t)
		}
	}
	return out
}

// appendJSON takes every property of a JSON body for an expression. A dynamic
// block's iterator cannot be told from a resource type there; names that nothing
// declares are therefore left to evaluation to complain about.
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
