package validating

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// references checks every reference to a resource's attribute against the schema. It finds mistakes even
// where the value is unknown, and where try or can would hide them. It warns of deprecated attributes, and of
// deprecated outputs of modules. It does not check references to invalid blocks: the mistake may be in the
// block.
func (v *validator) references(ctx context.Context, invalid map[addrs.ConfigResource]bool) diags.Diagnostics {
	var ds diags.Diagnostics
	seen := map[*config.Content]bool{}
	for _, m := range v.in.Config.Order {
		if seen[m.Content] {
			continue
		}
		seen[m.Content] = true
		for _, ref := range v.in.Refs.OfContent(m.Content) {
			if !invalid[addrs.ConfigResource{Module: m.Addr, Resource: ref.Object.Res}] {
				ds = append(ds, v.reference(ctx, m, ref)...)
			}
		}
	}
	return ds.Distinct()
}

// ofChanging returns the errors in ds, and the warnings about references in blocks for which the function
// changing returns true. ds must contain only diagnostics about references.
func ofChanging(ds diags.Diagnostics, cfg *config.Config, rs *refs.Refs, changing func(addrs.ConfigResource) bool) diags.Diagnostics {
	if len(ds) == 0 {
		return nil
	}
	places := map[string][]hcl.Range{} // ranges of the references by file, sorted; they do not overlap
	for _, m := range cfg.Order {
		for _, r := range m.Resources {
			if !changing(addrs.ConfigResource{Module: m.Addr, Resource: r.Addr}) {
				continue
			}
			list := rs.OfBlock(r)
			for i := range list {
				rng := list[i].Range()
				places[rng.Filename] = append(places[rng.Filename], rng)
			}
		}
	}
	for _, list := range places {
		slices.SortFunc(list, func(a, b hcl.Range) int { return a.Start.Byte - b.Start.Byte })
	}
	var out diags.Diagnostics
	for _, d := range ds {
		if d.Severity == diags.Error || d.Subject != nil && within(places[d.Subject.Filename], d.Subject.Start) {
			out = append(out, d)
		}
	}
	return out
}

// within reports whether a position is in one of the ranges, which are sorted.
func within(list []hcl.Range, at hcl.Pos) bool {
	i, found := slices.BinarySearchFunc(list, at.Byte, func(r hcl.Range, at int) int { return r.Start.Byte - at })
	return found || i > 0 && list[i-1].ContainsPos(at)
}

// Typed checks the references of an expression that a person has typed in, as if the expression were part of
// the module m: see [validator.references].
func Typed(ctx context.Context, in Input, m *config.Module, x hcl.Expression) diags.Diagnostics {
	v := &validator{in: in}
	var ds diags.Diagnostics
	for _, t := range x.Variables() {
		if ref, ok, _ := refs.Resolve(m, t); ok { // else the evaluation reports it
			ds = append(ds, v.reference(ctx, m, &ref)...)
		}
	}
	return ds
}

func (v *validator) reference(ctx context.Context, m *config.Module, ref *refs.Reference) diags.Diagnostics {
	if ref.Object.Kind == addrs.KindCall && ref.Output != "" {
		return deprecatedOutput(m.Children[ref.Object.Name], ref)
	}
	r := m.Resources[ref.Object.Res]
	if ref.Object.Kind != addrs.KindResource || r == nil || len(ref.Rest) == 0 {
		return nil
	}
	rest := ref.Rest
	if _, indexed := rest[0].(hcl.TraverseIndex); indexed {
		rest = rest[1:]
	}
	ps, ds := v.in.Providers.Schema(ctx, m.ResourceProvider(r).Provider)
	if ds.HasErrors() {
		return nil // the error is reported with the resource itself
	}
	if rs := ps.Resource(r.Addr.Mode.String(), r.Addr.Type); rs != nil {
		return traverse(rs.Block, rest)
	}
	return nil
}

// deprecatedOutput returns a warning if a reference names a deprecated output.
func deprecatedOutput(m *config.Module, ref *refs.Reference) diags.Diagnostics {
	if m == nil || m.Outputs[ref.Output] == nil || m.Outputs[ref.Output].Deprecated == "" {
		return nil
	}
	ds := diags.Warningf(ref.Range().Ptr(), "Value derived from a deprecated source",
		"The output %q of module %q is deprecated:\n\n%s", ref.Output, ref.Object.Name, m.Outputs[ref.Output].Deprecated)
	ds[0].Extra = diags.Cause{Deprecated: true, Remote: m.Call != nil && m.Call.Address.Kind != source.Local}
	return ds
}

// traverse returns the errors of a traversal into a block, and warnings about deprecated attributes.
func traverse(b *schema.Block, t hcl.Traversal) diags.Diagnostics {
	if len(t) == 0 {
		return nil
	}
	rng := t[0].SourceRange()
	name := ""
	switch s := t[0].(type) {
	case hcl.TraverseAttr:
		name = s.Name
	case hcl.TraverseRoot: // the first step in ignore_changes
		name = s.Name
	case hcl.TraverseIndex:
		hint := "using the dot operator."
		if s.Key.Type() == cty.String && s.Key.IsKnown() && !s.Key.IsNull() && hclsyntax.ValidIdentifier(s.Key.AsString()) {
			hint = "like ." + s.Key.AsString() + "."
		}
		return diags.Errorf(&rng, "Invalid index operation", "Only attribute access is allowed here, %s", hint)
	default:
		return diags.Errorf(&rng, "Invalid operation", "Only attribute access is allowed here, using the dot operator.")
	}
	if a := b.Attributes[name]; a != nil {
		var ds diags.Diagnostics
		if a.Deprecated {
			ds = deprecatedAttribute(&rng, name, a.Instead)
		}
		_, hs := t[1:].TraverseRel(cty.UnknownVal(a.ImpliedType()))
		return append(ds, diags.FromHCL(hs)...)
	}
	if n := b.Blocks[name]; n != nil {
		return traverseBlocks(n, name, t[1:])
	}
	return diags.Errorf(&rng, "Unsupported attribute", "This object has no argument, nested block, or exported attribute named %q.%s",
		name, diags.Suggest(name, names(b)))
}

// mostWords is how much of a provider's text about a deprecation is shown, in bytes.
const mostWords = 2000

// deprecatedAttribute warns of a reference to a deprecated attribute, in the provider's own words if it has any.
func deprecatedAttribute(at *hcl.Range, name, instead string) diags.Diagnostics {
	if instead = strings.TrimSpace(instead); instead == "" {
		return diags.Warningf(at, "Deprecated attribute", "The attribute %q is deprecated: the provider's documentation names a replacement.", name)
	}
	if len(instead) > mostWords {
		instead = strings.ToValidUTF8(instead[:mostWords], "") + "..."
	}
	return diags.Warningf(at, "Deprecated attribute", "The attribute %q is deprecated. The provider says:\n\n%s", name, instead)
}

// names returns the names of a block's attributes and nested blocks.
func names(b *schema.Block) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range b.Attributes {
			if !yield(name) {
				return
			}
		}
		for name := range b.Blocks {
			if !yield(name) {
				return
			}
		}
	}
}

// traverseBlocks returns the errors of a traversal into nested blocks.
func traverseBlocks(n *schema.NestedBlock, name string, t hcl.Traversal) diags.Diagnostics {
	if n.Nesting == schema.NestingSingle || n.Nesting == schema.NestingGroup {
		return traverse(n.Block, t)
	}
	if len(t) == 0 {
		return nil
	}
	rng := t[0].SourceRange()
	_, index := t[0].(hcl.TraverseIndex)
	switch {
	case n.Nesting == schema.NestingSet:
		return diags.Errorf(&rng, "Cannot index a set value",
			"Block type %q is represented by a set of objects, and set elements do not have addressable keys. To find elements matching specific criteria, use a \"for\" expression with an \"if\" clause.", name)
	case n.Nesting == schema.NestingList && !index:
		return diags.Errorf(&rng, "Invalid operation",
			"Block type %q is represented by a list of objects, so it must be indexed using a numeric key, like .%s[0].", name, name)
	}
	return traverse(n.Block, t[1:])
}
