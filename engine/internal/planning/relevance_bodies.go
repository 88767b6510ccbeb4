package planning

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// resource adds the references of the part of a resource's body that a path leads to: an argument, or a block
// that is not repeated. If the path is empty, or ends at repeated blocks, it adds all references. If the path
// leads into repeated blocks, it adds none: before evaluation it is unknown which block makes which element.
func (s *relevanceSearch) resource(in addrs.ModuleInstance, r *config.Resource, path hcl.Traversal) {
	rs := s.Schema(s.Config.Modules[in.Module()], r)
	if rs == nil {
		return
	}
	if len(path) == 0 {
		s.body(in, r, rs)
		return
	}
	block, bodies := rs.Block, []hcl.Body{r.Body}
	for _, step := range path {
		name := relevanceStepText(step)
		if block.Attributes[name] != nil {
			for _, b := range bodies {
				got, _, _ := b.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: name}}})
				if a := got.Attributes[name]; a != nil {
					s.traversals(in, r, a.Expr.Variables())
				}
			}
			return
		}
		n := block.Blocks[name]
		switch {
		case n == nil:
			return
		case n.Nesting == schema.NestingSingle || n.Nesting == schema.NestingGroup:
			bodies, block = s.within(in, r, bodies, name), n.Block
		}
	}
	for _, b := range bodies {
		s.traversals(in, r, block.Variables(b))
	}
}

// body adds all references in the body of a resource, so that the search follows them.
func (s *relevanceSearch) body(in addrs.ModuleInstance, r *config.Resource, rs *schema.Schema) {
	if _, native := r.Body.(*hclsyntax.Body); native && r.Count == nil && r.ForEach == nil {
		for _, ref := range s.Refs.OfBlock(r) { // these are all references, except those to count and each
			s.add(relevantReference{in: in, ref: ref})
		}
		return
	}
	s.traversals(in, r, s.Bound(r, rs).Variables())
}

// within returns the bodies of the nested blocks of a type, including the content of dynamic blocks. It adds
// the references in the for_each of dynamic blocks.
func (s *relevanceSearch) within(in addrs.ModuleInstance, r *config.Resource, bodies []hcl.Body, name string) []hcl.Body {
	var out []hcl.Body
	for _, b := range bodies {
		got, _, _ := b.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: name}, {Type: "dynamic", LabelNames: []string{"type"}}}})
		for _, found := range got.Blocks {
			if found.Type == name {
				out = append(out, found.Body)
				continue
			}
			if found.Labels[0] != name {
				continue
			}
			parts, _, _ := found.Body.PartialContent(&hcl.BodySchema{
				Attributes: []hcl.AttributeSchema{{Name: "for_each"}, {Name: "labels"}}, Blocks: []hcl.BlockHeaderSchema{{Type: "content"}},
			})
			for _, a := range parts.Attributes {
				s.traversals(in, r, a.Expr.Variables())
			}
			for _, c := range parts.Blocks {
				out = append(out, c.Body)
			}
		}
	}
	return out
}

// relevanceStepText returns the name or key of a step.
func relevanceStepText(s hcl.Traverser) string {
	switch s := s.(type) {
	case hcl.TraverseAttr:
		return s.Name
	case hcl.TraverseIndex:
		if k, err := convert.Convert(s.Key, cty.String); err == nil && k.IsKnown() && !k.IsNull() {
			return k.AsString()
		}
	}
	return ""
}
