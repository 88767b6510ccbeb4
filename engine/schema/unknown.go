package schema

import (
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/zclconf/go-cty/cty"
)

// UnknownAsNull returns v with null in place of all unknown values. Marks stay. Set elements that become
// equal become one.
func UnknownAsNull(v cty.Value) cty.Value {
	if v.IsWhollyKnown() {
		return v
	}
	if !marks.Any(v) {
		return cty.UnknownAsNull(v)
	}
	plain, pvm := v.UnmarkDeepWithPaths()
	return cty.UnknownAsNull(plain).MarkWithPaths(pvm)
}

// SetUnknowns returns v, a known value of b's implied type, with unknown values in place of null in all
// computed attributes. The result is the plan for a new object, if a provider adds nothing of its own.
func (b *Block) SetUnknowns(v cty.Value) cty.Value {
	l := b.layout()
	if !l.computed {
		return v
	}
	return l.edit(v, func(f *field, v cty.Value) (cty.Value, bool) {
		if f.Computed && v.IsNull() {
			return f.unknown, true
		}
		return v, f.object == nil || !f.object.computed
	}, func(in *layout) bool { return in.computed })
}
