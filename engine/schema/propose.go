package schema

import "github.com/zclconf/go-cty/cty"

// The proposed new value
//
// The proposed new value of an object combines its prior value and its configuration. The provider makes its
// plan from it:
//
//   - a configured attribute has the configured value;
//   - a computed attribute that is not configured keeps its prior value;
//   - all other attributes are null.
//
// Nested blocks and objects of the prior value are matched with nested blocks and objects of the configuration:
// in lists by index, in maps by key. In a set nothing identifies an element. So an element of the prior value
// matches if it could be the result of the configured element: equal except for computed attributes that are
// not configured.
//
// Both values must have no marks.

// ProposedNew returns the proposed new value of an object of type b. Either value may be null. If prior is
// null, the result is config: computed attributes that are not set are null. The provider then replaces the
// values that it will choose itself with unknown values. For the built-in provider, [Block.SetUnknowns] does
// this.
func ProposedNew(b *Block, prior, config cty.Value) cty.Value {
	if config.IsNull() || !config.IsKnown() {
		if prior.IsNull() && !config.IsNull() {
			return b.EmptyValue()
		}
		return prior
	}
	return b.layout().proposed(prior, config)
}

// PlannedDataResourceObject returns the planned value of a data source that will be read during apply:
// config, with unknown values for everything that the provider may still choose. (Terraform leaves such
// attributes null in sets and maps.)
func PlannedDataResourceObject(b *Block, config cty.Value) cty.Value {
	return ProposedNew(b, cty.UnknownVal(b.ImpliedType()), config)
}

// proposed merges one object. config is known. It may be null only for an object of a nested attribute.
func (l *layout) proposed(prior, config cty.Value) cty.Value {
	if config.IsNull() {
		return config
	}
	if prior.IsNull() || !l.computed {
		// There is no prior value that could be kept.
		return config
	}
	var vals map[string]cty.Value
	set := func(name string, old, new cty.Value) {
		if same(old, new) {
			return
		}
		if vals == nil {
			vals = config.AsValueMap()
		}
		vals[name] = new
	}
	for i := range l.attrs {
		f := &l.attrs[i]
		if f.Computed || f.object != nil && f.object.computed {
			c := config.GetAttr(f.name)
			set(f.name, c, f.proposed(prior.GetAttr(f.name), c))
		}
	}
	for i := range l.blocks {
		n := &l.blocks[i]
		if n.in.computed {
			c := config.GetAttr(n.name)
			set(n.name, c, n.proposed(prior.GetAttr(n.name), c))
		}
	}
	if vals == nil {
		return config
	}
	return object(vals)
}

func (f *field) proposed(prior, config cty.Value) cty.Value {
	switch {
	case f.Computed && config.IsNull():
		if f.wasConfigured(prior) {
			return config
		}
		return prior
	case f.object == nil || config.IsNull() || !config.IsKnown():
		return config
	}
	return f.object.proposedAll(f.Nested.Nesting, prior, config)
}

// wasConfigured reports whether the configuration has set the prior value of the nested attribute f. That is
// so if the prior value has an attribute that the provider cannot compute. A configuration without f then
// removes the prior value.
func (f *field) wasConfigured(prior cty.Value) bool {
	return f.Optional && f.object != nil && f.object.anyConfigured(f.Nested.Nesting, prior)
}

func (l *layout) anyConfigured(n Nesting, v cty.Value) bool {
	if v.IsNull() || !v.IsKnown() {
		return false
	}
	for _, e := range n.elements(v) {
		if e.IsNull() || !e.IsKnown() {
			continue
		}
		for i := range l.attrs {
			f := &l.attrs[i]
			v := e.GetAttr(f.name)
			if v.IsNull() {
				continue
			}
			if !f.Computed || f.object != nil && f.object.anyConfigured(f.Nested.Nesting, v) {
				return true
			}
		}
	}
	return false
}

func (n *nest) proposed(prior, config cty.Value) cty.Value {
	if config.IsNull() || !config.IsKnown() {
		// Unknown blocks come from a dynamic block with an unknown for_each.
		return config
	}
	return n.in.proposedAll(n.Nesting, prior, config)
}

// proposedAll merges all blocks or objects of one name. config is known and not null.
func (l *layout) proposedAll(n Nesting, prior, config cty.Value) cty.Value {
	switch n {
	case NestingSingle, NestingGroup:
		return l.proposed(prior, config)
	case NestingSet:
		return l.proposedSet(prior, config)
	}
	var vals []cty.Value
	for step, c := range n.elements(config) {
		p := cty.UnknownVal(l.ty)
		if prior.IsKnown() {
			p = at(prior, step)
		}
		if p == cty.NilVal || !c.IsKnown() {
			vals = append(vals, c)
			continue
		}
		vals = append(vals, l.proposed(p, c))
	}
	if len(vals) == 0 {
		return config
	}
	return rebuild(config, vals)
}

func (l *layout) proposedSet(prior, config cty.Value) cty.Value {
	var priors []cty.Value
	if !prior.IsNull() && prior.IsKnown() {
		priors = prior.AsValueSlice()
	}
	used := make([]bool, len(priors))
	var vals []cty.Value
	for _, c := range NestingSet.elements(config) {
		v := c
		if !prior.IsKnown() && c.IsKnown() {
			v = l.proposed(cty.UnknownVal(l.ty), c)
		}
		for i, p := range priors {
			if !used[i] && l.couldHaveCome(p, c) {
				used[i] = true
				v = l.proposed(p, c)
				break
			}
		}
		vals = append(vals, v)
	}
	if len(vals) == 0 {
		return config
	}
	return cty.SetVal(vals)
}

// at returns the element of v that step leads to; [cty.NilVal] if v has none. v is known.
func at(v cty.Value, step cty.PathStep) cty.Value {
	if v.IsNull() {
		return cty.NilVal
	}
	if s, ok := step.(cty.GetAttrStep); ok {
		step = cty.IndexStep{Key: cty.StringVal(s.Name)}
	}
	key := step.(cty.IndexStep).Key
	if ty := v.Type(); ty.IsObjectType() {
		if !ty.HasAttribute(key.AsString()) {
			return cty.NilVal
		}
		return v.GetAttr(key.AsString())
	}
	if v.HasIndex(key).False() {
		return cty.NilVal
	}
	return v.Index(key)
}
