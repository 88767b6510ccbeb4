package schema

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/budget"
)

// A blockCount counts the blocks that the dynamic blocks of one body make. Nested dynamic blocks count each
// time the outer block is made.
type blockCount struct {
	b *budget.Budget
	n int64
}

// perBlock is the approximate number of values that use as much memory as one nested block. Source: measured;
// a block with a few arguments takes 2 kB while it is decoded.
const perBlock = 20

// check checks the number of blocks. It is called with the for_each of each dynamic block, before the block
// is expanded.
func (c *blockCount) check(v cty.Value, x hcl.Expression, _ *hcl.EvalContext) hcl.Diagnostics {
	v, _ = v.Unmark()
	if !v.IsKnown() || v.IsNull() || !v.CanIterateElements() {
		return nil
	}
	n := int64(v.LengthInt())
	c.n += n
	excess := c.b.Step(n + 1)
	if limit := c.b.Limits().Values / perBlock; excess == nil && c.n > limit {
		excess = &budget.Excess{Kind: budget.TooManyBlocks, Needed: c.n, Allowed: limit}
	}
	if excess == nil {
		return nil
	}
	c.b.Passed(excess)
	return hcl.Diagnostics{excess.Diagnostic(x.Range())}
}

// tooLarge returns an error if the value of a body exceeds the budget. It counts all texts as copies, because
// providers get and return copies.
func (d *decoder) tooLarge(at hcl.Range) hcl.Diagnostics {
	excess := d.excess
	if excess == nil {
		excess = d.budget.Made(budget.Size{Bytes: d.size.Bytes})
	}
	if excess == nil {
		return nil
	}
	excess = excess.Of("The configuration of this object")
	d.budget.Passed(excess)
	return hcl.Diagnostics{excess.Diagnostic(at)}
}
