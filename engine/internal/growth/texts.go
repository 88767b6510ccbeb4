package growth

import (
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/budget"
)

// replace: the text with each occurrence exchanged.
func replace(c *call) {
	str, old, new := c.str(0), c.str(1), c.str(2)
	if len(old) >= 2 && old[0] == '/' && old[len(old)-1] == '/' {
		replaceMatches(c, str, old[1:len(old)-1], new)
		return
	}
	n := int64(strings.Count(str, old))
	c.text(int64(len(str)) + n*int64(len(new)-len(old)))
}

// indent: as many spaces after each end of a line.
func indent(c *call) {
	if len(c.args) < 2 || c.args[0].IsNull() || c.args[0].Type() != cty.Number {
		return
	}
	spaces, _ := c.args[0].AsBigFloat().Int64()
	c.text(product(max(spaces, 0), int64(strings.Count(c.str(1), "\n"))) + int64(len(c.str(1))))
}

// join: all elements of all lists, and the separators between them.
func join(c *call) {
	all := budget.Size{}
	for i := 1; i < len(c.args); i++ {
		s := c.measure(i)
		all.Values, all.Bytes = all.Values+s.Values, all.Bytes+s.Bytes
	}
	c.text(all.Bytes + product(all.Values, int64(len(c.str(0)))))
}

// split: a text more than there are separators.
func split(c *call) {
	c.values(int64(strings.Count(c.str(1), c.str(0))) + 2)
}

// parseInt: reading n digits takes n*n steps.
func parseInt(c *call) {
	if s := c.str(0); int64(len(s)) > c.limits.Digits {
		c.fail(&budget.Excess{Kind: budget.NumberTooLong, Needed: int64(len(s)), Allowed: c.limits.Digits})
	}
}

// bcryptCost: each 1 more takes twice the time.
func bcryptCost(c *call) {
	if len(c.args) < 2 || c.args[1].IsNull() || c.args[1].Type() != cty.Number {
		return
	}
	if cost, _ := c.args[1].AsBigFloat().Int64(); cost > int64(c.limits.BcryptCost) && cost <= 31 {
		c.fail(&budget.Excess{Kind: budget.CallTooLong, Needed: 100_000 << cost, Allowed: 100_000 << c.limits.BcryptCost})
	}
}

// maxPrivateKey is how long a private key in PEM is at most that rsadecrypt is given: those
// of 16384 bits have 12.7 kB, and one of twice as many takes eight times as long.
const maxPrivateKey = 16 << 10

func rsaKey(c *call) {
	c.text(int64(len(c.str(0))))
	if n := int64(len(c.str(1))); n > maxPrivateKey {
		c.fail(&budget.Excess{Kind: budget.CallTooLong, Needed: product(n, product(n, n)), Allowed: maxPrivateKey * maxPrivateKey * maxPrivateKey})
	}
}

// maxFactor is where products end.
const maxFactor = 1 << 60

// product is a*b, or a number that is too much for everything.
func product(a, b int64) int64 {
	if a > 0 && b > maxFactor/a {
		return maxFactor
	}
	return a * b
}

// sum is a+b, likewise.
func sum(a, b int64) int64 { return min(a+b, maxFactor) }
