package schema

import "github.com/zclconf/go-cty/cty"

// edit returns v with its attributes replaced by the results of the function change. If change returns false
// for a nested attribute, edit continues with the objects in the attribute. It also continues with the nested
// blocks for which the function descend returns true. Unchanged parts are not copied, and marks stay.
func (l *layout) edit(v cty.Value, change func(*field, cty.Value) (cty.Value, bool), descend func(*layout) bool) cty.Value {
	v, vm := v.Unmark()
	if v.IsNull() || !v.IsKnown() {
		return v.WithMarks(vm)
	}
	var vals map[string]cty.Value
	set := func(name string, old, new cty.Value) {
		if same(old, new) {
			return
		}
		if vals == nil {
			vals = v.AsValueMap()
		}
		vals[name] = new
	}
	for i := range l.attrs {
		f := &l.attrs[i]
		old := v.GetAttr(f.name)
		new, done := change(f, old)
		if !done {
			new = f.object.editAll(f.Nested.Nesting, new, change, descend)
		}
		set(f.name, old, new)
	}
	for i := range l.blocks {
		if n := &l.blocks[i]; descend(n.in) {
			old := v.GetAttr(n.name)
			set(n.name, old, n.in.editAll(n.Nesting, old, change, descend))
		}
	}
	if vals != nil {
		v = object(vals)
	}
	return v.WithMarks(vm)
}

// editAll calls [layout.edit] for all values of the layout l in v. If the nesting n is single or group, v
// itself is one such value; otherwise it is a list, set or map of them.
func (l *layout) editAll(n Nesting, v cty.Value, change func(*field, cty.Value) (cty.Value, bool), descend func(*layout) bool) cty.Value {
	plain, vm := v.Unmark()
	if plain.IsNull() || !plain.IsKnown() {
		return v
	}
	if n == NestingSingle || n == NestingGroup {
		return l.edit(v, change, descend)
	}
	var vals []cty.Value
	changed := false
	for _, old := range n.elements(plain) {
		new := l.edit(old, change, descend)
		changed = changed || !same(old, new)
		vals = append(vals, new)
	}
	if !changed {
		return v
	}
	return rebuild(plain, vals).WithMarks(vm)
}

// same reports whether two values are equal in every respect, marks included.
func same(a, b cty.Value) bool { return a.RawEquals(b) }
