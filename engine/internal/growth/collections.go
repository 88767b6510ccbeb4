package growth

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/budget"
)

// maxUnified is the largest number of arguments that may be converted to one type. Their types are compared
// with each other, and if they differ, the result of each comparison is kept.
const maxUnified = 5000

// unified refuses calls with too many arguments of functions that convert all their arguments to one type.
func unified(c *call) {
	if n := int64(len(c.args)); n > maxUnified {
		c.fail(&budget.Excess{Kind: budget.CallTooLong, Needed: n * n, Allowed: maxUnified * maxUnified})
	}
}

// setProduct estimates the result of setproduct: the product of the lengths of all arguments, each element
// being a list with one element of each argument.
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
			return // then the result is a list, whose elements are not compared
		}
		worst = product(worst, worstOf(c.args[i]))
	}
	c.work(product(n, worst))
}

// pair is the approximate number of steps for comparing two values.
const pair = 20

// distinct estimates the time of distinct, which compares each element with all previous ones. Lists of texts
// are faster: see package funcs.
func distinct(c *call) {
	if ty := c.args[0].Type(); !ty.IsListType() || ty.ElementType() != cty.String {
		c.work(product(product(c.length(0), c.length(0)/2), pair))
	}
}

// matchKeys estimates the time of matchkeys, which compares each key with all wanted keys.
func matchKeys(c *call) { c.work(product(product(c.length(1), c.length(2)), pair)) }

// sets estimates the time of set functions: elements with the same hash are compared with each other.
func sets(c *call) {
	unified(c)
	for i := range c.args {
		c.work(product(c.length(i), worstOf(c.args[i])))
	}
}

// fewElements is a number of elements whose comparison takes no noticeable time.
const fewElements = 4096

// worstOf returns the largest number of elements in a list or set that have the same hash. The hash is a CRC
// of 32 bits, so an attacker can choose such elements. Also, all unknown elements have the same hash. Source:
// go-cty 1.19, cty/set_internals.go.
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
