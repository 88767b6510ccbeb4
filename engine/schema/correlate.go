package schema

import "github.com/zclconf/go-cty/cty"

// couldHaveCome reports whether prior, an element of a set, can be the result of the configured element
// config: they may differ only in computed attributes that are not configured. Sets inside must be equal,
// since their elements have no identity.
func (l *layout) couldHaveCome(prior, config cty.Value) bool {
	if prior.IsNull() || config.IsNull() || !config.IsKnown() {
		return sameUnrefined(prior, config)
	}
	for i := range l.attrs {
		f := &l.attrs[i]
		if !f.couldHaveCome(prior.GetAttr(f.name), config.GetAttr(f.name)) {
			return false
		}
	}
	for i := range l.blocks {
		n := &l.blocks[i]
		p, c := prior.GetAttr(n.name), config.GetAttr(n.name)
		if !sameUnrefined(p, c) && !n.in.allCouldHaveCome(n.Nesting, p, c) {
			return false
		}
	}
	return true
}

func (f *field) couldHaveCome(prior, config cty.Value) bool {
	switch {
	case sameUnrefined(prior, config):
		return true
	case config.Type().IsSetType():
		return false
	case f.object != nil:
		return f.object.allCouldHaveCome(f.Nested.Nesting, prior, config)
	}
	return f.Computed && config.IsNull()
}

// allCouldHaveCome reports for a list or map of blocks or objects what [layout.couldHaveCome] reports for one:
// whether each element of prior can be the result of the element of config at the same place. The result for a
// set is false.
func (l *layout) allCouldHaveCome(n Nesting, prior, config cty.Value) bool {
	if n == NestingSet {
		return false
	}
	if prior.IsNull() {
		return true
	}
	for step, p := range n.elements(prior) {
		c := config
		switch {
		case step != nil && !config.IsKnown():
			c = cty.UnknownVal(l.ty)
		case step != nil:
			c = at(config, step)
		}
		if c == cty.NilVal || !sameUnrefined(p, c) && !l.couldHaveCome(p, c) {
			return false
		}
	}
	return true
}

// sameUnrefined reports whether two values are equal. Unknown values of one type count as equal, even if
// different things are known about them, such as a prefix.
func sameUnrefined(a, b cty.Value) bool {
	if a.RawEquals(b) {
		return true
	}
	if a.IsWhollyKnown() && b.IsWhollyKnown() {
		return false
	}
	return unrefined(a).RawEquals(unrefined(b))
}

// unrefined returns v with every unknown value reduced to its type.
func unrefined(v cty.Value) cty.Value {
	if v.IsWhollyKnown() {
		return v
	}
	out, _ := cty.Transform(v, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		if v.IsKnown() {
			return v, nil
		}
		return cty.UnknownVal(v.Type()), nil
	})
	return out
}
