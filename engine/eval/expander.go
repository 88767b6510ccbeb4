package eval

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
)

const ephemeral = marks.Ephemeral

// An expander turns the values of count and for_each arguments into instances, and the values of instances
// into the value of the block. It uses only values; expressions are passed for messages.
type expander struct {
	limits
	unexpanded bool // see [Phase.Unexpanded]
}

// refusal returns a function that makes an error about an argument, with this summary and the given detail.
func refusal(x hcl.Expression, summary string) func(detail string, args ...any) diags.Diagnostics {
	return func(detail string, args ...any) diags.Diagnostics {
		ds := diags.Errorf(x.Range().Ptr(), summary, detail, args...)
		ds[0].Expression = x
		return ds
	}
}

// unknownKeys returns the error for a for_each whose keys are unknown.
func unknownKeys(x hcl.Expression, detail string, args ...any) diags.Diagnostics {
	ds := refusal(x, "Invalid for_each argument")(detail, args...)
	ds[0].Extra = diags.Cause{Unknown: true}
	return ds
}

// counted returns the instances for the value of a count argument.
func (e expander) counted(v cty.Value, at expansion) ([]Instance, diags.Diagnostics) {
	n, ds := e.count(v, at.x)
	if ds.HasErrors() {
		return nil, ds
	}
	if e.unexpanded {
		return anyCounted(), nil
	}
	if ds := e.instances(at, n); ds.HasErrors() {
		return nil, ds
	}
	out := make([]Instance, n)
	for i := range out {
		out[i] = Instance{Key: addrs.IntKey(i), HasCount: true}
	}
	return out, nil
}

// count returns the value of a count argument as a number. The value must be known, since the plan lists
// instances one by one. It must not be ephemeral, since it must be the same at apply. Texts that are numbers
// are accepted, as everywhere in the language.
func (e expander) count(v cty.Value, x hcl.Expression) (int, diags.Diagnostics) {
	bad := refusal(x, "Invalid count argument")
	if marks.Has(v, ephemeral) {
		return 0, bad(`The given "count" is derived from an ephemeral value, which means that it can be different in each run. Use only values that stay the same to decide how many instances there are.`)
	}
	v, _ = v.Unmark() // a sensitive count is allowed, although the number of instances shows it
	if v.IsNull() {
		return 0, bad(`The given "count" argument value is null. An integer is required.`)
	}
	v, err := convert.Convert(v, cty.Number)
	if err != nil {
		return 0, refusal(x, "Incorrect value type")(`The expression does not give a number of instances: %s.`, err)
	}
	if !v.IsKnown() {
		if e.unexpanded {
			return 0, nil
		}
		return 0, bad(`The "count" value depends on resource attributes that cannot be determined until apply, so it cannot be predicted how many instances will be created. To work around this, use the -target argument to first apply only the resources that the count depends on.`)
	}
	f, acc := v.AsBigFloat().Int64()
	switch {
	case acc != 0 && !v.AsBigFloat().IsInt():
		return 0, bad(`The given "count" argument value is unsuitable: a whole number is required.`)
	case f < 0:
		return 0, bad(`The given "count" argument value is unsuitable: must be greater than or equal to zero.`)
	case f > math.MaxInt32:
		return 0, bad(`The given "count" argument value is unsuitable: there cannot be so many instances.`)
	}
	return int(f), nil
}

// each returns the instances for the value of a for_each argument. The elements may have any type. It checks
// the number of instances before it makes them. was are the keys that an earlier phase decided, or nil.
func (e expander) each(v cty.Value, at expansion, was *decided) ([]Instance, diags.Diagnostics) {
	if was == nil && !e.unexpanded {
		if ds := e.instances(at, lengthOf(v)); ds.HasErrors() {
			return nil, ds
		}
	}
	if ds := unsuitable(v, at.x); ds.HasErrors() {
		return nil, ds
	}
	v, _ = v.Unmark()
	switch ty := v.Type(); {
	case was != nil && ty.IsSetType():
		return was.setInstances(), nil
	case !v.IsKnown():
		return e.unknownEach(ty, at.x, was)
	case ty.IsSetType():
		return e.eachOfSet(v, at.x)
	}
	return e.eachOfMap(v.AsValueMap(), at.x, was)
}

// unsuitable returns an error for a for_each value that is sensitive or ephemeral, since its keys become part
// of addresses. It also returns an error for a value without keys.
//
// Lists are refused although they have elements, as in Terraform: their keys would be positions, and removing
// the first element would rename all other instances.
func unsuitable(v cty.Value, x hcl.Expression) diags.Diagnostics {
	bad := refusal(x, "Invalid for_each argument")
	if marks.Has(v, ephemeral) {
		return bad(`The given "for_each" value is derived from an ephemeral value, which means that it can be different in each run. Use only values that stay the same as instance keys.`)
	}
	if marks.Has(v, marks.Sensitive) {
		ds := bad(`Sensitive values, or values derived from sensitive values, cannot be used as for_each arguments. If used, the sensitive value could be exposed as a resource instance key.`)
		ds[0].Extra = diags.Cause{Sensitive: true}
		return ds
	}
	v, _ = v.Unmark()
	ty := v.Type()
	if v.IsKnown() && v.IsNull() {
		return bad(`The given "for_each" argument value is unsuitable: the given "for_each" argument value is null. A map, or set of strings is allowed.`)
	}
	if ty != cty.DynamicPseudoType && !ty.IsMapType() && !ty.IsObjectType() && !ty.IsSetType() {
		return bad(`The given "for_each" argument value is unsuitable: the "for_each" argument must be a map, or set of strings, and you have provided a value of type %s.`, ty.FriendlyName())
	}
	return nil
}

// lengthOf returns the number of elements of a value; 0 for a value that has no elements.
func lengthOf(v cty.Value) int {
	v, _ = v.Unmark()
	if !v.IsKnown() || v.IsNull() || !v.CanIterateElements() {
		return 0
	}
	return v.LengthInt()
}

// unknownEach returns the instances for a for_each argument whose value is unknown; only its type is known. was
// are the keys that an earlier phase decided, or nil.
func (e expander) unknownEach(ty cty.Type, x hcl.Expression, was *decided) ([]Instance, diags.Diagnostics) {
	if e.unexpanded {
		return anyEach(), nil
	}
	if was != nil {
		out := make([]Instance, len(was.keys))
		for i, k := range was.keys {
			out[i] = Instance{Key: k, HasEach: true, Value: cty.DynamicVal}
		}
		return out, nil
	}
	keys := "map includes keys derived from resource attributes"
	if ty.IsSetType() {
		keys = "set includes values derived from resource attributes"
	}
	return nil, unknownKeys(x, `The "for_each" %s that cannot be determined until apply, and so the full set of keys that will identify the instances cannot be known. Use a map value where the keys are defined statically in your configuration and where only the values contain apply-time results, or use the -target argument to first apply only the resources that the for_each value depends on.`, keys)
}

// setInstances returns the instances for the keys of a set that an earlier phase decided. The value of each
// instance is its key.
//
// The set may have changed since. For example, fileset returns more files after the apply has written some. The
// approved instances are kept. Maps are different: only the map has the value of a key. So a decided key that
// the map no longer has is an error (see eachOfMap).
func (was *decided) setInstances() []Instance {
	out := make([]Instance, len(was.keys))
	for i, k := range was.keys {
		out[i] = Instance{Key: k, HasEach: true, Value: k.Value()}
	}
	return out
}

// eachOfMap returns the instances for a map or an object. was are the keys that an earlier phase decided, or
// nil. If there are such keys, only these become instances, in their order: keys that the map has got since are
// ignored.
func (e expander) eachOfMap(elems map[string]cty.Value, x hcl.Expression, was *decided) ([]Instance, diags.Diagnostics) {
	if e.unexpanded {
		return anyEach(), nil
	}
	out := make([]Instance, 0, len(elems))
	if was != nil {
		for _, k := range was.keys {
			s, _ := k.Str()
			val, ok := elems[s]
			if !ok {
				return nil, refusal(x, "Invalid for_each argument")(`The plan has an instance %s that is not in the "for_each" value any more. This is a bug in Lockstep: please report it.`, k)
			}
			out = append(out, Instance{Key: k, HasEach: true, Value: val})
		}
		return out, nil
	}
	for _, k := range slices.Sorted(maps.Keys(elems)) {
		out = append(out, Instance{Key: addrs.StringKey(k), HasEach: true, Value: elems[k]})
	}
	return out, nil
}

// eachOfSet returns the instances for a set. Its elements must be known strings.
func (e expander) eachOfSet(v cty.Value, x hcl.Expression) ([]Instance, diags.Diagnostics) {
	badSet := refusal(x, "Invalid for_each set argument")
	if et := v.Type().ElementType(); et != cty.String && v.LengthInt() > 0 && et != cty.DynamicPseudoType {
		return nil, badSet(`The given "for_each" argument value is unsuitable: "for_each" supports maps and sets of strings, but you have provided a set containing type %s.`, et.FriendlyName())
	}
	var out []Instance
	for it := v.ElementIterator(); it.Next(); {
		_, el := it.Element() // elements have no marks: a set carries the marks of its elements
		switch {
		case !el.IsKnown() && e.unexpanded:
			return anyEach(), nil
		case !el.IsKnown():
			return nil, unknownKeys(x, `The "for_each" set includes values derived from resource attributes that cannot be determined until apply, and so the full set of keys that will identify the instances cannot be known. Use a map value where the keys are defined statically in your configuration, or use the -target argument to first apply only the resources that the for_each value depends on.`)
		case el.IsNull():
			return nil, badSet(`The given "for_each" argument value is unsuitable: "for_each" sets must not contain null values.`)
		}
		out = append(out, Instance{Key: addrs.StringKey(el.AsString()), HasEach: true, Value: el})
	}
	if e.unexpanded {
		return anyEach(), nil
	}
	return out, nil // sorted: cty iterates over a set of strings in order
}

// imported returns the instances for the value of an import block's for_each. Unlike elsewhere, lists and
// sets of any type are accepted, null means no instances, and sensitive values are allowed, since no address
// contains them. But the whole value must be known. Source: Terraform 1.11.4.
func (e expander) imported(v cty.Value, at expansion) ([]Instance, diags.Diagnostics) {
	bad := refusal(at.x, "Invalid for_each argument")
	switch {
	case marks.Contains(v, ephemeral):
		return nil, bad(`The given "for_each" value is derived from an ephemeral value, which means that it can be different in each run.`)
	case e.unexpanded && !v.IsWhollyKnown():
		return []Instance{{HasEach: true, eachKey: cty.DynamicVal, Value: cty.DynamicVal}}, nil
	case !v.IsWhollyKnown():
		return nil, bad(`The "for_each" value depends on resource attributes that cannot be determined until apply, so it cannot be known what is to be imported. All of it must be known, values included.`)
	case v.IsNull():
		return nil, nil
	}
	v, outer := v.Unmark()
	if !v.CanIterateElements() {
		return nil, bad(`The given "for_each" argument value is unsuitable: a map, a set or a list is required.`)
	}
	if !e.unexpanded {
		if ds := e.instances(at, v.LengthInt()); ds.HasErrors() {
			return nil, ds
		}
	}
	var out []Instance
	for it := v.ElementIterator(); it.Next(); {
		k, el := it.Element()
		out = append(out, Instance{HasEach: true, eachKey: k, Value: el.WithMarks(outer)})
	}
	return out, nil
}

// collect makes the value of a block from the values of its instances: a tuple for count, an object for
// for_each, and null if enabled is false.
func (e expander) collect(r config.Repetition, ins []Instance, vals []cty.Value) cty.Value {
	switch {
	case (r.Count != nil || r.ForEach != nil) && e.unexpanded:
		return cty.DynamicVal
	case r.Count != nil:
		return cty.TupleVal(vals)
	case r.ForEach != nil:
		m := make(map[string]cty.Value, len(vals))
		for i := range ins {
			s, ok := ins[i].Key.Str()
			if !ok {
				panic(fmt.Sprintf("eval: for_each made the key %v", ins[i].Key))
			}
			m[s] = vals[i]
		}
		return cty.ObjectVal(m)
	case len(vals) == 1:
		return vals[0]
	case r.Enabled != nil:
		return cty.NullVal(cty.DynamicPseudoType)
	}
	return cty.DynamicVal
}
