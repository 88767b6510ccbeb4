package growth

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/budget"
)

// maxUnified is how many arguments may be made of one type: their types are compared with
// each other, and where they differ the outcome of each comparison is kept.
const maxUnified = 5000

// unified is for functions that convert all arguments to one type.
func unified(c *call) {
	if n := int64(len(c.args)); n > maxUnified {
		c.fail(&budget.Excess{Kind: budget.CallTooLong, Needed: n * n, Allowed: maxUnified * maxUnified})
	}
}

// setProduct: as many combinations as the numbers of elements multiplied, each of them with
// an element of each.
func setProduct(c *call) {
	n, worst := int64(1), int64(1)
	for i := range c.args {
		n = product(n, c.length(i))
	}
	c.values(product(n, int64(len(c.args))+1))
	if c.excess != nil {
		return
	}
	c.all = budget.Size{}
	c.measureAll(false)
	c.bytes(product(c.all.Bytes, max(n/max(c.all.Values, 1), 1)))
	for i := range c.args {
		if !c.args[i].Type().IsSetType() {
			return // so that the result is a list
		}
		worst = product(worst, worstOf(c.args[i]))
	}
	c.work(product(n, worst))
}

// pair is about how many steps it takes to compare two values.
const pair = 20

// distinct compares each element with all that came before, unless they are texts: see
// package funcs.
func distinct(c *call) {
	if ty := c.args[0].Type(); !ty.IsListType() || ty.ElementType() != cty.String {
		c.work(product(product(c.length(0), c.length(0)/2), pair))
	}
}

// matchKeys compares each key with all that are searched for.
func matchKeys(c *call) { c.work(product(product(c.length(1), c.length(2)), pair)) }

// sets: elements that have the same hash are compared with each other.
func sets(c *call) {
	unified(c)
	for i := range c.args {
		c.work(product(c.length(i), worstOf(c.args[i])))
	}
}

// fewElements are compared with each other in no time.
const fewElements = 4096

// worstOf returns how many elements of a list or set have the same hash at most. It is a
// CRC of 32 bits, so that whoever chooses the elements can choose such; and all elements
// that are not known yet have the same. Source: go-cty 1.19, cty/set_internals.go.
func worstOf(v cty.Value) int64 {
	v, _ = v.UnmarkDeep()
	if v.IsNull() || !v.CanIterateElements() || v.LengthInt() < fewElements {
		return 1
	}
	worst := int64(1)
	count := make(map[int]int64, v.LengthInt())
	for _, el := range v.Elements() {
		h := el.Hash()
		count[h]++
		worst = max(worst, count[h])
	}
	return worst
}
