package session

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// With ignore_changes, the provider gets a configuration in which the named parts have their prior values, so
// that it proposes no change of them. Three cases are less obvious:
//
//   - For map elements, also their existence counts. An element that the configuration adds is removed again,
//     and one that it drops is restored. So a null map may become one with elements, and a map may become null.
//   - Attributes and list elements are restored only if both values have them. A shortened list stays short,
//     and an object keeps the attributes of its type.
//   - Marks go with the values. A mark of the configuration is dropped only if the prior value was really
//     restored: an ignored list element that the prior value lacks keeps the configuration's value and its
//     mark. Marks of the prior value are restored, even if the sensitive part is larger than the ignored part.
//
// Paths are compared by their keys, since tags.name and tags["name"] mean the same.

// ignoreChanges returns the configuration value with the prior values restored where ignore_changes says so.
// A restored value keeps its sensitivity. Otherwise a secret in the state would be printed when the
// configuration no longer refers to it.
func ignoreChanges(r *config.Resource, prior, config cty.Value) (cty.Value, diags.Diagnostics) {
	if prior.IsNull() || !r.IgnoreAllChanges && len(r.IgnoreChanges) == 0 {
		return config, nil
	}
	if r.IgnoreAllChanges {
		return prior, nil
	}
	var paths []cty.Path
	var ds diags.Diagnostics
	for _, t := range r.IgnoreChanges {
		path, err := refs.Path(t)
		if err != nil {
			ds = append(ds, diags.Errorf(t.SourceRange().Ptr(), "Invalid ignore_changes expression", "%s", err)...)
			continue
		}
		paths = append(paths, path)
	}
	if ds.HasErrors() {
		return config, ds
	}
	plain, sensitive := marks.Paths(config, marks.Sensitive)
	was, wasSensitive := marks.Paths(prior, marks.Sensitive)
	var restored []cty.Path
	for _, path := range paths {
		var done bool
		if plain, done = putBack(plain, was, path); done {
			restored = append(restored, path)
		}
	}
	kept := sensitive[:0:0]
	for _, s := range sensitive {
		if !slices.ContainsFunc(restored, func(path cty.Path) bool { return within(s, path) }) {
			kept = append(kept, s)
		}
	}
	for _, s := range wasSensitive {
		if slices.ContainsFunc(paths, func(path cty.Path) bool { return within(s, path) || within(path, s) }) {
			kept = append(kept, s)
		}
	}
	return marks.At(plain, marks.Sensitive, kept), ds
}

// within reports whether path is outer or leads to a part of outer. tags.name and tags["name"] are the same
// path.
func within(path, outer cty.Path) bool {
	if len(path) < len(outer) {
		return false
	}
	for i := range outer {
		if !pathKey(path[i]).RawEquals(pathKey(outer[i])) {
			return false
		}
	}
	return true
}

func pathKey(step cty.PathStep) cty.Value {
	if x, ok := step.(cty.IndexStep); ok {
		return x.Key
	}
	return cty.StringVal(step.(cty.GetAttrStep).Name)
}

// putBack returns v with prior's value at path. The second result is true if v now has the prior value there. A
// map element that prior does not have is removed, and the result is true. An attribute or list element is
// restored only if v and prior both have it.
func putBack(v, prior cty.Value, path cty.Path) (cty.Value, bool) {
	if len(path) == 0 {
		return prior, true
	}
	if !v.IsKnown() || !prior.IsKnown() {
		return v, false
	}
	switch step := path[0].(type) {
	case cty.GetAttrStep:
		// tags.name is a way to write tags["name"]
		if v.Type().IsMapType() {
			return putBackKey(v, prior, step.Name, path[1:])
		}
		return putBackAttribute(v, prior, step.Name, path[1:])
	case cty.IndexStep:
		ty := v.Type()
		switch {
		case ty.IsMapType() && step.Key.Type() == cty.String:
			return putBackKey(v, prior, step.Key.AsString(), path[1:])
		case ty.IsObjectType() && step.Key.Type() == cty.String:
			return putBackAttribute(v, prior, step.Key.AsString(), path[1:])
		case (ty.IsListType() || ty.IsTupleType()) && step.Key.Type() == cty.Number:
			return putBackElement(v, prior, step.Key, path[1:])
		}
	}
	return v, false
}

// putBackAttribute is putBack for an object. The path is the attribute name, followed by rest.
func putBackAttribute(v, prior cty.Value, name string, rest cty.Path) (cty.Value, bool) {
	for _, x := range []cty.Value{v, prior} {
		if x.IsNull() || !x.Type().IsObjectType() || !x.Type().HasAttribute(name) {
			return v, false
		}
	}
	attrs := v.AsValueMap()
	was, done := putBack(attrs[name], prior.GetAttr(name), rest)
	attrs[name] = was
	return cty.ObjectVal(attrs), done
}

// putBackKey is putBack for a map. The path is the element k, followed by rest.
func putBackKey(v, prior cty.Value, k string, rest cty.Path) (cty.Value, bool) {
	ty := v.Type()
	if !prior.IsNull() && !prior.Type().Equals(ty) {
		return v, false // in an argument of any type, the prior value had another type
	}
	var had, has bool
	var was, now cty.Value
	elems := map[string]cty.Value{}
	if !v.IsNull() && v.LengthInt() > 0 {
		elems = v.AsValueMap()
		now, has = elems[k]
	}
	if !prior.IsNull() {
		was, had = prior.AsValueMap()[k]
	}
	done := true
	switch {
	case had && has:
		elems[k], done = putBack(now, was, rest)
	case had && len(rest) == 0:
		elems[k] = was
	case has && len(rest) == 0:
		delete(elems, k)
	default:
		return v, false
	}
	if len(elems) == 0 {
		return emptyLike(prior, ty), done
	}
	if !cty.CanMapVal(elems) {
		return v, false
	}
	return cty.MapVal(elems), done
}

// emptyLike returns null if prior is null, otherwise an empty map.
func emptyLike(prior cty.Value, ty cty.Type) cty.Value {
	if prior.IsNull() {
		return cty.NullVal(ty)
	}
	return cty.MapValEmpty(ty.ElementType())
}

// putBackElement is putBack for a list or a tuple. The path is the element at the index key, followed by rest.
func putBackElement(v, prior, key cty.Value, rest cty.Path) (cty.Value, bool) {
	ty, was := v.Type(), prior.Type()
	if v.IsNull() || prior.IsNull() || !was.IsListType() && !was.IsTupleType() {
		return v, false
	}
	i, _ := key.AsBigFloat().Int64()
	if i < 0 || int(i) >= v.LengthInt() || int(i) >= prior.LengthInt() {
		return v, false
	}
	elems := v.AsValueSlice()
	x, done := putBack(elems[i], prior.AsValueSlice()[i], rest)
	elems[i] = x
	switch {
	case ty.IsTupleType():
		return cty.TupleVal(elems), done
	case !cty.CanListVal(elems):
		return v, false // in an argument of any type, the prior elements had another type
	}
	return cty.ListVal(elems), done
}
