package eval

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// An Instance is one instance that count or for_each makes of a block, with its values of count and each.
type Instance struct {
	Key      addrs.InstanceKey
	Value    cty.Value // each.value
	HasCount bool
	HasEach  bool
	// unknown is true for the single instance that represents all instances of an unexpanded block. Its key
	// is unknown.
	unknown bool
	// eachKey is the value of each.key if it differs from Key. In import blocks, each.key need not be a string.
	eachKey cty.Value
}

// anyCounted and anyEach return the single instance that represents all instances of an unexpanded block.
func anyCounted() []Instance { return []Instance{{HasCount: true, unknown: true}} }

func anyEach() []Instance {
	return []Instance{{HasEach: true, unknown: true, Value: cty.DynamicVal}}
}

// fill adds the instance's value of count or each to vars.
func (i *Instance) fill(vars map[string]cty.Value) {
	switch {
	case i.HasCount && i.unknown:
		vars["count"] = cty.ObjectVal(map[string]cty.Value{"index": cty.UnknownVal(cty.Number)})
	case i.HasCount:
		vars["count"] = cty.ObjectVal(map[string]cty.Value{"index": i.Key.Value()})
	case i.HasEach && i.eachKey != cty.NilVal:
		vars["each"] = cty.ObjectVal(map[string]cty.Value{"key": i.eachKey, "value": i.Value})
	case i.HasEach && i.unknown:
		vars["each"] = cty.ObjectVal(map[string]cty.Value{"key": cty.UnknownVal(cty.String), "value": cty.DynamicVal})
	case i.HasEach:
		vars["each"] = cty.ObjectVal(map[string]cty.Value{"key": i.Key.Value(), "value": i.Value})
	}
}

// Variables returns the values of count or each in the instance, by root name.
func (i *Instance) Variables() map[string]cty.Value {
	vars := map[string]cty.Value{}
	i.fill(vars)
	return vars
}
