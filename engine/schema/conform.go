package schema

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/marks"
)

// The provider's contract
//
// Two checks ensure that a provider's answers fit the request and each other. A plan must equal the
// configuration, except for computed attributes that are not configured ([AssertPlanValid]). The new value
// must equal the plan, except for unknown values in it ([AssertObjectCompatible]). Providers on the legacy
// SDK cannot pass these checks: callers only log their errors.
//
// Errors are [cty.PathError]s. Their texts are for the developers of the provider, to whom users pass them
// on. So they show values in full, except sensitive ones.

// AssertPlanValid returns an error for each way in which planned is not a valid plan for changing prior into
// config. All three are values of b's implied type; null means no object. Marks are ignored, but sensitive
// values are not shown. Write-only attributes are not checked; see [Block.WriteOnlyValues].
func AssertPlanValid(b *Block, prior, config, planned cty.Value) []error {
	c := planCheck{}
	c.object(b.layout(), prior, config, planned, nil)
	return c.errs
}

type planCheck struct {
	errs []error
	// secret is set while the check is within a sensitive value.
	secret bool
}

func (c *planCheck) errorf(path cty.Path, text string, args ...any) {
	c.errs = append(c.errs, path.NewErrorf(text, args...))
}

// object checks that planned is a valid plan for changing prior into config, for one body.
func (c *planCheck) object(l *layout, prior, config, planned cty.Value, path cty.Path) {
	switch {
	case planned.IsNull() && config.IsNull():
		return
	case planned.IsNull():
		c.errorf(path, "planned for absence but config wants existence")
		return
	case config.IsNull():
		c.errorf(path, "planned for existence but config wants absence")
		return
	case !planned.IsKnown():
		c.errorf(path, "planned value must not be unknown itself; set attribute values to unknown instead")
		return
	}
	c.attributes(l, prior, config, planned, path)
	outer := c.secret
	for i := range l.blocks {
		n := &l.blocks[i]
		p, co := planned.GetAttr(n.name), config.GetAttr(n.name)
		if marks.Equal(p, co) {
			continue
		}
		pr := cty.NullVal(n.ty)
		if !prior.IsNull() {
			pr = prior.GetAttr(n.name)
		}
		for _, v := range []*cty.Value{&pr, &co, &p} {
			c.secret = c.secret || marks.Has(*v, marks.Sensitive)
			*v, _ = v.Unmark()
		}
		c.blocks(n, pr, co, p, attr(path, n.name))
		c.secret = outer
	}
}

// show returns v as text for a message. If v is sensitive, or secret is set, it returns a placeholder.
func (c *planCheck) show(v cty.Value, secret bool) string {
	if c.secret || secret || marks.Contains(v, marks.Sensitive) {
		return "(sensitive value)"
	}
	return fmt.Sprintf("%#v", v)
}

// blocks checks that planned is a valid plan for changing prior into config, for all nested blocks of one kind.
func (c *planCheck) blocks(n *nest, prior, config, planned cty.Value, path cty.Path) {
	switch {
	case !config.IsKnown():
		c.errorf(path, "planned value %s for unknown dynamic block", c.show(planned, n.in.sensitive))
	case !planned.IsKnown():
		c.errorf(path, "attribute representing nested block must not be unknown itself; set nested attribute values to unknown instead")
	case n.Nesting == NestingSingle || n.Nesting == NestingGroup:
		c.object(n.in, prior, config, planned, path)
	case planned.IsNull():
		c.errorf(path, "attribute representing a %s of nested blocks must be empty to indicate no blocks, not null", n.Nesting)
	case n.Nesting == NestingSet:
		// In a set, nothing shows which planned block belongs to which configured block. So every planned
		// block is accepted that could be a configured one.
		for step, p := range n.Nesting.elements(planned) {
			if !p.IsKnown() {
				c.unknownElement(extend(path, step))
			}
		}
	case n.Nesting == NestingMap && n.dynamic:
		c.namedBlocks(n, prior, config, planned, path)
	case planned.LengthInt() != config.LengthInt():
		c.errorf(path, "block count in plan (%d) disagrees with count in config (%d)", planned.LengthInt(), config.LengthInt())
	default:
		c.namedBlocks(n, prior, config, planned, path)
	}
}

// namedBlocks checks blocks that each have an index or a key.
func (c *planCheck) namedBlocks(n *nest, prior, config, planned cty.Value, path cty.Path) {
	for step, p := range n.Nesting.elements(planned) {
		co := at(config, step)
		if co == cty.NilVal {
			at := path
			if !n.dynamic {
				at = extend(path, step)
			}
			c.errorf(at, "block key %s from plan is not present in config", stepKey(step))
			continue
		}
		c.element(n, prior, co, p, step, path)
	}
	for step := range n.Nesting.elements(config) {
		if at(planned, step) == cty.NilVal {
			c.errorf(path, "block key %s from config is not present in plan", stepKey(step))
		}
	}
}

// element checks the planned block that step leads to. It finds the block's prior value in priors.
func (c *planCheck) element(n *nest, priors, config, planned cty.Value, step cty.PathStep, path cty.Path) {
	path = extend(path, step)
	if !planned.IsKnown() {
		c.unknownElement(path)
		return
	}
	prior := at(priors, step)
	if prior == cty.NilVal {
		prior = cty.NullVal(n.in.ty)
	}
	c.object(n.in, prior, config, planned, path)
}

func (c *planCheck) unknownElement(path cty.Path) {
	c.errorf(path, "element representing nested block must not be unknown itself; set nested attribute values to unknown instead")
}

// stepKey returns the key of a step as messages quote it.
func stepKey(step cty.PathStep) string {
	switch s := step.(type) {
	case cty.GetAttrStep:
		return fmt.Sprintf("%q", s.Name)
	case cty.IndexStep:
		return formatKey(s.Key)
	}
	return ""
}
