package schema

import "github.com/zclconf/go-cty/cty"

// attributes checks the attributes of one body or object. config and planned are
// not null.
func (c *planCheck) attributes(l *layout, prior, config, planned cty.Value, path cty.Path) {
	for i := range l.attrs {
		f := &l.attrs[i]
		p, co := planned.GetAttr(f.name), config.GetAttr(f.name)
		if p.RawEquals(co) && !f.WriteOnly {
			continue
		}
		pr := f.null
		if !prior.IsNull() {
			pr = prior.GetAttr(f.name)
		}
		c.attribute(f, pr, co, p, attr(path, f.name))
	}
}

func (c *planCheck) attribute(f *field, prior, config, planned cty.Value, path cty.Path) {
	switch {
	case f.WriteOnly:
		if !planned.IsNull() {
			c.writeOnly(f, planned, path)
		}
	case sameUnrefined(planned, config):
	case config.IsNull() && f.Computed:
		// The provider's to choose, as long as it does not unsettle a part that it
		// cannot have chosen.
		c.chosen(f, prior, planned, path)
	case config.IsNull():
		if f.Sensitive {
			c.errorf(path, "sensitive planned value for a non-computed attribute")
			return
		}
		c.errorf(path, "planned value %#v for a non-computed attribute", planned)
	case !prior.IsNull() && sameUnrefined(planned, prior):
		// The provider says that the configured value means the same.
	case f.object != nil:
		c.objects(f, prior, config, planned, path)
	default:
		c.mismatch(f, prior, config, planned, path)
	}
}

func (c *planCheck) writeOnly(f *field, planned cty.Value, path cty.Path) {
	c.errorf(path, "planned value for write-only attribute is not null")
}

func (c *planCheck) chosen(f *field, prior, planned cty.Value, path cty.Path) {}

func (c *planCheck) mismatch(f *field, prior, config, planned cty.Value, path cty.Path) {
	switch {
	case f.Sensitive && prior.IsNull():
		c.errorf(path, "sensitive planned value does not match config value")
	case f.Sensitive:
		c.errorf(path, "sensitive planned value does not match config value or prior value")
	case prior.IsNull():
		c.errorf(path, "planned value %#v does not match config value %#v", planned, config)
	default:
		c.errorf(path, "planned value %#v does not match config value %#v nor prior value %#v", planned, config, prior)
	}
}

// objects checks the objects of a nested attribute. config is not null.
func (c *planCheck) objects(f *field, prior, config, planned cty.Value, path cty.Path) {
	n, l := f.Nested.Nesting, f.object
	switch {
	case planned.IsNull() || !planned.IsKnown() || !config.IsKnown():
		c.mismatch(f, prior, config, planned, path)
	case n == NestingSingle:
		c.attributes(l, prior, config, planned, path)
	case n == NestingSet:
		c.errs = append(c.errs, correspond(planned, config, path, func(p, co cty.Value) bool {
			var inner planCheck
			inner.attributes(l, cty.NullVal(l.ty), co, p, path)
			return len(inner.errs) == 0
		})...)
	case planned.LengthInt() != config.LengthInt():
		c.errorf(path, "count in plan (%d) disagrees with count in config (%d)", planned.LengthInt(), config.LengthInt())
	default:
		for step, p := range n.elements(planned) {
			co := at(config, step)
			if co == cty.NilVal {
				c.errorf(path, "map key %s from plan is not present in config", stepKey(step))
				continue
			}
			pr := at(prior, step)
			if pr == cty.NilVal {
				pr = cty.NullVal(l.ty)
			}
			c.attributes(l, pr, co, p, extend(path, step))
		}
	}
}
