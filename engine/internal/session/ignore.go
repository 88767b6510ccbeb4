package session

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// With ignore_changes the provider gets a configuration in which the parts that are named have their prior values, so
// that it proposes no change of them. Three cases are less than obvious:
//
//   - A map element counts by its being there. One that the configuration adds is taken out again, and one that it
//     drops is put back. So a null map may become one with elements, and a map may become null.
//   - Attributes and list elements are put back only where both values have them: a list that has become shorter stays
//     short, and an object keeps the attributes of its type.
//   - Marks go with the values. Those of the configuration inside an ignored part are dropped with it, and those of the
//     prior value come back, also where the part that is sensitive is larger than the part that is ignored.
//
// Paths are compared by their keys, since tags.name and tags["name"] are two ways to write one.

// ignoreChanges returns the configuration value with the prior values put back where ignore_changes
// asks for it. A value that is put back keeps its sensitivity; otherwise a secret of the state would
// be printed once the configuration does not refer to it any more.
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
	for _, path := range paths {
		plain = putBack(plain, was, path)
	}
	kept := sensitive[:0:0]
	for _, s := range sensitive {
		if !slices.ContainsFunc(paths, func(path cty.Path) bool { return within(s, path) }) {
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

// within reports whether path is outer, or leads to a part of it. tags.name and
// tags["name"] are the same.
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

// putBack returns v with prior's value at path. A map element that prior does not have is removed; an
// attribute or list element that v does not have is not added.
func putBack(v, prior cty.Value, path cty.Path) cty.Value {
	if len(path) == 0 {
		return prior
	}
	if !v.IsKnown() || !prior.IsKnown() {
		return v
	}
	switch step := path[0].(type) {
	case cty.GetAttrStep:
		if !v.Type().IsObjectType() || v.IsNull() || prior.IsNull() || !v.Type().HasAttribute(step.Name) || !prior.Type().IsObjectType() || !prior.Type().HasAttribute(step.Name) {
			// tags.name is a way to write tags["name"]
			if v.Type().IsMapType() {
				return putBack(v, prior, append(cty.Path{cty.IndexStep{Key: cty.StringVal(step.Name)}}, path[1:]...))
			}
			return v
		}
		attrs := v.AsValueMap()
		attrs[step.Name] = putBack(attrs[step.Name], prior.GetAttr(step.Name), path[1:])
		return cty.ObjectVal(attrs)
	case cty.IndexStep:
		return putBackElement(v, prior, step.Key, path[1:])
	}
	return v
}

// putBackElement is putBack for an element of a collection.
func putBackElement(v, prior, key cty.Value, rest cty.Path) cty.Value {
	ty := v.Type()
	switch {
	case ty.IsMapType() && key.Type() == cty.String:
		k := key.AsString()
		was, had := element(prior, k)
		var elems map[string]cty.Value
		if !v.IsNull() {
			elems = v.AsValueMap()
		}
		now, has := elems[k]
		switch {
		case had && (has || len(rest) == 0):
			if elems == nil {
				elems = map[string]cty.Value{}
			}
			if !has {
				now = was
			}
			elems[k] = putBack(now, was, rest)
		case has && len(rest) == 0:
			delete(elems, k)
		default:
			return v
		}
		if len(elems) == 0 {
			if prior.IsNull() {
				return cty.NullVal(ty)
			}
			return cty.MapValEmpty(ty.ElementType())
		}
		return cty.MapVal(elems)
	case (ty.IsListType() || ty.IsTupleType()) && key.Type() == cty.Number && !v.IsNull() && !prior.IsNull():
		i, _ := key.AsBigFloat().Int64()
		elems, was := v.AsValueSlice(), prior.AsValueSlice()
		if i < 0 || int(i) >= len(elems) || int(i) >= len(was) {
			return v
		}
		elems[i] = putBack(elems[i], was[i], rest)
		if ty.IsTupleType() {
			return cty.TupleVal(elems)
		}
		return cty.ListVal(elems)
	case ty.IsObjectType() && key.Type() == cty.String:
		return putBack(v, prior, append(cty.Path{cty.GetAttrStep{Name: key.AsString()}}, rest...))
	}
	return v
}

// element returns a map's element.
func element(m cty.Value, k string) (cty.Value, bool) {
	if m.IsNull() || !m.Type().IsMapType() {
		return cty.NilVal, false
	}
	v, ok := m.AsValueMap()[k]
	return v, ok
}
