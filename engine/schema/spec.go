package schema

import "github.com/hashicorp/hcl/v2/hcldec"

// DecoderSpec returns b as a hcldec specification, for callers that use HCL's tools. [Block.Decode] gives the
// same values and diagnostics, but faster. It also expands dynamic blocks and reads attributes that are
// written as blocks.
func (b *Block) DecoderSpec() hcldec.Spec {
	b.once.spec.Do(func() { b.spec = b.layout().decoderSpec() })
	return b.spec
}

func (l *layout) decoderSpec() hcldec.Spec {
	spec := make(hcldec.ObjectSpec, len(l.attrs)+len(l.blocks))
	for i := range l.attrs {
		f := &l.attrs[i]
		spec[f.name] = &hcldec.AttrSpec{Name: f.name, Type: f.convTy, Required: f.Required}
	}
	for i := range l.blocks {
		spec[l.blocks[i].name] = l.blocks[i].decoderSpec()
	}
	return spec
}

func (n *nest) decoderSpec() hcldec.Spec {
	in := n.Block.DecoderSpec()
	switch n.Nesting {
	case NestingSingle, NestingGroup:
		single := &hcldec.BlockSpec{TypeName: n.name, Nested: in, Required: n.MinItems == 1 && n.MaxItems == 1}
		if n.Nesting == NestingSingle {
			return single
		}
		return &hcldec.DefaultSpec{Primary: single, Default: &hcldec.LiteralSpec{Value: n.empty}}
	case NestingList:
		if n.dynamic {
			return &hcldec.BlockTupleSpec{TypeName: n.name, Nested: in, MinItems: n.MinItems, MaxItems: n.MaxItems}
		}
		return &hcldec.BlockListSpec{TypeName: n.name, Nested: in, MinItems: n.MinItems, MaxItems: n.MaxItems}
	case NestingSet:
		return &hcldec.BlockSetSpec{TypeName: n.name, Nested: in, MinItems: n.MinItems, MaxItems: n.MaxItems}
	case NestingMap:
		if n.dynamic {
			return &hcldec.BlockObjectSpec{TypeName: n.name, Nested: in, LabelNames: mapLabels}
		}
		return &hcldec.BlockMapSpec{TypeName: n.name, Nested: in, LabelNames: mapLabels}
	}
	panic("schema: invalid nesting")
}
