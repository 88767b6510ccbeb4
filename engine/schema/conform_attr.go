package schema

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/marks"
)

// attributes checks the attributes of one body or object. config and planned are
// not null.
func (c *planCheck) attributes(l *layout, prior, config, planned cty.Value, path cty.Path) {
	for i := range l.attrs {
		f := &l.attrs[i]
		p, co := planned.GetAttr(f.name), config.GetAttr(f.name)
		if f.WriteOnly || f.Computed && co.IsNull() || marks.Equal(p, co) {
			continue // write-only, chosen by the provider, or as configured
		}
		pr := f.null
		if !prior.IsNull() {
			pr = prior.GetAttr(f.name)
		}
		c.attribute(f, pr, co, p, attr(path, f.name))
	}
}

func (c *planCheck) attribute(f *field, prior, config, planned cty.Value, path cty.Path) {
	outer := c.secret
	defer func() { c.secret = outer }()
	c.secret = c.secret || f.Sensitive
	for _, v := range []*cty.Value{&prior, &config, &planned} {
		plain, secret := unmarked(*v)
		*v, c.secret = plain, c.secret || secret
	}
	switch {
	case sameUnrefined(planned, config):
	case config.IsNull() && c.hides(f):
		c.errorf(path, "sensitive planned value for a non-computed attribute")
	case config.IsNull():
		c.errorf(path, "planned value %#v for a non-computed attribute", planned)
	case !prior.IsNull() && sameUnrefined(planned, prior):
	// A provider may keep the prior value if the configured value means the same to it. So this is no error.
	case f.object != nil:
		c.objects(f, prior, config, planned, path)
	default:
		c.mismatch(f, prior, config, planned, path)
	}
}

// hides reports whether messages must not show values of f.
func (c *planCheck) hides(f *field) bool {
	return c.secret || f.object != nil && f.object.sensitive
}

func (c *planCheck) mismatch(f *field, prior, config, planned cty.Value, path cty.Path) {
	switch {
	case c.hides(f) && prior.IsNull():
		c.errorf(path, "sensitive planned value does not match config value")
	case c.hides(f):
		c.errorf(path, "sensitive planned value does not match config value nor prior value")
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
	case planned.IsNull():
		c.errorf(path, "planned for absence but config wants existence")
	case !planned.IsKnown():
		c.errorf(path, "planned unknown for configured value")
	case !config.IsKnown():
		c.mismatch(f, prior, config, planned, path)
	case n == NestingSingle:
		c.attributes(l, prior, config, planned, path)
	case otherCount(planned, config):
		c.errorf(path, "count in plan (%#v) disagrees with count in config (%#v)", planned.Length(), config.Length())
	case n == NestingSet:
	// Nothing is checked here: in a set, nothing shows which planned object belongs to which configured object.
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
			c.elementObject(l, pr, co, p, extend(path, step))
		}
		for step := range n.elements(config) {
			if at(planned, step) == cty.NilVal {
				c.errorf(path, "map key %s from config is not present in plan", stepKey(step))
			}
		}
	}
}

// elementObject checks one of several objects of a nested attribute.
func (c *planCheck) elementObject(l *layout, prior, config, planned cty.Value, path cty.Path) {
	switch {
	case planned.IsNull() && config.IsNull():
	case planned.IsNull():
		c.errorf(path, "planned for absence but config wants existence")
	case config.IsNull():
		c.errorf(path, "planned for existence but config wants absence")
	case !planned.IsKnown():
		c.errorf(path, "planned unknown for configured value")
	default:
		c.attributes(l, prior, config, planned, path)
	}
}

// otherCount reports whether two known collections certainly have different numbers of elements. Set elements
// that are partly unknown may turn out to be equal, so the number of elements may be known only within
// bounds.
func otherCount(a, b cty.Value) bool {
	same := a.Length().Equals(b.Length())
	return same.IsKnown() && same.False()
}
