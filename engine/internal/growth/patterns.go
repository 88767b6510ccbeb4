package growth

import (
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/budget"
)

// maxPattern is how many bytes a regular expression may have, and maxProgram how many
// instructions may be made of it: `(a{100}){10}` is short, and means 1000 letters.
const (
	maxPattern = 64 << 10
	maxProgram = 200_000
)

// regex: in each place of the text each instruction of the regular expression may be tried.
func regex(c *call) { c.pattern(c.str(0), c.str(1)) }

// pattern checks a regular expression and the time it takes to search a text. It returns the
// expression; nil if it is too much, or is none, as the function will say.
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

// instructions returns about how many instructions are made of a regular expression.
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

// regexAll: a list for each match, with a value for each group.
func regexAll(c *call) {
	if re := c.pattern(c.str(0), c.str(1)); re != nil {
		each := int64(re.NumSubexp()) + 2
		c.values(product(matches(re, c.str(1), c.limits.Values/each), each))
	}
}

// replace: the text with each occurrence exchanged. The replacement of a match may name its
// groups, which have at most the whole of the text in all matches together.
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

// matches returns how many matches a text has at most: it counts them if there could be more than enough.
func matches(re *regexp.Regexp, str string, enough int64) int64 {
	if most := int64(len(str)) + 1; most <= enough {
		return most
	}
	n := int64(0)
	re.ReplaceAllStringFunc(str, func(string) string { n++; return "" })
	return n
}
