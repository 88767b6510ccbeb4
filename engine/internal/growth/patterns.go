package growth

import (
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/budget"
)

// maxPattern is the largest number of bytes in a regular expression. maxProgram is the largest number of
// instructions that it compiles to: `(a{100}){10}` is short, but compiles to 1000 letters.
const (
	maxPattern = 64 << 10
	maxProgram = 200_000
)

// regex estimates the time of regex: at each place of the text, each instruction of the regular expression
// may be tried.
func regex(c *call) { c.pattern(c.str(0), c.str(1)) }

// pattern checks the size of a regular expression, and the time for searching a text. It returns the compiled
// expression; nil if it exceeds a limit, or is invalid, which the function itself reports.
func (c *call) pattern(p, str string) *regexp.Regexp {
	if n := int64(len(p)); n > maxPattern {
		c.fail(&budget.Excess{Kind: budget.TextTooLong, What: "The regular expression", Needed: n, Allowed: maxPattern})
		return nil
	}
	tree, err := syntax.Parse(p, syntax.Perl)
	if err != nil {
		return nil
	}
	n := instructions(tree)
	c.atMost(budget.CallTooLong, n, maxProgram)
	if c.work(product(n, int64(len(str)))); c.excess != nil {
		return nil
	}
	re, _ := regexp.Compile(p)
	return re
}

// instructions returns the approximate number of instructions that a regular expression compiles to.
func instructions(r *syntax.Regexp) int64 {
	n := int64(1 + len(r.Rune))
	for _, s := range r.Sub {
		n = sum(n, instructions(s))
	}
	if r.Op == syntax.OpRepeat {
		n = product(n, int64(max(r.Max, r.Min, 1)))
	}
	return n
}

// regexAll estimates the result of regexall: a list for each match, with a value for each group.
func regexAll(c *call) {
	if re := c.pattern(c.str(0), c.str(1)); re != nil {
		each := int64(re.NumSubexp()) + 2
		c.values(product(matches(re, c.str(1), c.limits.Values/each), each))
	}
}

// replace estimates the result of replace: the text with each match replaced. The replacement may refer to
// groups. In all matches together, a group has at most the whole text.
func replace(c *call) {
	str, old, new := c.str(0), c.str(1), c.str(2)
	n, named := int64(strings.Count(str, old)), int64(0)
	if len(old) >= 2 && old[0] == '/' && old[len(old)-1] == '/' {
		re := c.pattern(old[1:len(old)-1], str)
		if re == nil {
			return
		}
		n = matches(re, str, c.limits.Text/int64(len(new)+1))
		named = int64(strings.Count(new, "$"))
		old = ""
	}
	c.text(sum(product(named, int64(len(str))), int64(len(str))+n*int64(len(new)-len(old))))
}

// matches returns an upper limit for the number of matches in a text. It counts them only if the limit would
// exceed enough.
func matches(re *regexp.Regexp, str string, enough int64) int64 {
	if most := int64(len(str)) + 1; most <= enough {
		return most
	}
	n := int64(0)
	re.ReplaceAllStringFunc(str, func(string) string { n++; return "" })
	return n
}
