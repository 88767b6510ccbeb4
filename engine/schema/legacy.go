package schema

import (
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/zclconf/go-cty/cty"
)

// NormalizeFromLegacySDK returns v, an answer of a provider on the legacy SDK, in the form of all other
// values of b's implied type: nested blocks are never null and never unknown, but empty if there are none.
// The legacy SDK returns null, empty or unknown blocks at random. As in Terraform, it is called only for objects that
// were read, not for objects that were planned or applied. So the first read after an apply may show drift from null
// to empty, as in Terraform.
func NormalizeFromLegacySDK(v cty.Value, b *Block) cty.Value {
	l := b.layout()
	if v == cty.NilVal || v.IsNull() {
		return cty.NullVal(l.ty)
	}
	if !l.structured || !v.IsKnown() {
		return v
	}
	if !marks.Any(v) {
		return l.normal(v)
	}
	plain, pvm := v.UnmarkDeepWithPaths()
	return l.normal(plain).MarkWithPaths(pvm)
}

func (l *layout) normal(v cty.Value) cty.Value {
	if v.IsNull() {
		return cty.NullVal(l.ty)
	}
	if len(l.blocks) == 0 {
		return v
	}
	vals := v.AsValueMap()
	changed := false
	for i := range l.blocks {
		n := &l.blocks[i]
		old := vals[n.name]
		if n.in.ty.HasDynamicTypes() {
			continue // the legacy SDK cannot make this
		}
		vals[n.name] = n.normal(old)
		changed = changed || !same(old, vals[n.name])
	}
	if !changed {
		return v
	}
	return object(vals)
}

func (n *nest) normal(v cty.Value) cty.Value {
	switch n.Nesting {
	case NestingSingle, NestingGroup:
		switch {
		case !v.IsKnown():
			return n.in.unknownBlock()
		case v.IsNull() && n.Nesting == NestingGroup:
			return n.empty
		}
		return n.in.normal(v)
	case NestingList, NestingSet:
	default:
		return v // the legacy SDK has no maps of blocks
	}
	switch {
	case !v.IsKnown():
		return n.gather(v, []cty.Value{n.in.unknownBlock()})
	case v.IsNull() || v.LengthInt() == 0:
		return n.empty
	}
	vals := v.AsValueSlice()
	for i := range vals {
		vals[i] = n.in.normal(vals[i])
	}
	return n.gather(v, vals)
}

// unknownBlock returns a block with only unknown values. It represents any number of blocks where a block
// itself cannot be unknown.
func (l *layout) unknownBlock() cty.Value {
	vals := make(map[string]cty.Value, len(l.attrs)+len(l.blocks))
	for i := range l.attrs {
		vals[l.attrs[i].name] = cty.UnknownVal(l.attrs[i].ty)
	}
	for i := range l.blocks {
		n := &l.blocks[i]
		switch n.Nesting {
		case NestingSingle, NestingGroup:
			vals[n.name] = n.in.unknownBlock()
		case NestingList, NestingSet:
			vals[n.name] = n.gather(cty.NilVal, []cty.Value{n.in.unknownBlock()})
		default:
			vals[n.name] = cty.UnknownVal(n.ty)
		}
	}
	return object(vals)
}
