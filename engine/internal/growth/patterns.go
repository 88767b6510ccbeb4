package growth

import (
	"regexp"
	"regexp/syntax"

	"github.com/lockstep-iac/lockstep/engine/budget"
)

// maxPattern is how many bytes a regular expression may have, and maxProgram how many
// instructions may be made of it: `(a{100}){10}` is short, and means 1000 letters.
const (
	maxPattern = 64 << 10
	maxProgram = 200_000
)

// pattern checks a regular expression and the time it takes to search a text; it returns
// nil if it is too much, or is none, of which the function will tell.
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
	if n > maxProgram {
		c.fail(&budget.Excess{Kind: budget.CallTooLong, Needed: n, Allowed: maxProgram})
		return nil
	}
	// In each place of the text each instruction may be tried.
	if c.work(product(n, int64(len(str)))); c.excess != nil {
		return nil
	}
	re, err := regexp.Compile(p)
	if err != nil {
		return nil
	}
	return re
}

// instructions returns about how many instructions are made of a regular expression.
func instructions(r *syntax.Regexp) int64 {
	n := int64(1)
	for _, s := range r.Sub {
		n = sum(n, instructions(s))
	}
	switch r.Op {
	case syntax.OpLiteral:
		n += int64(len(r.Rune))
	case syntax.OpRepeat:
		n = product(n, int64(max(r.Max, r.Min, 1)))
	case syntax.OpCharClass:
		n += int64(len(r.Rune)) / 2
	}
	return n
}

// regex: as many values as there are groups.
func regex(c *call) { c.pattern(c.str(0), c.str(1)) }

// regexAll: as many for each match.
func regexAll(c *call) {
	str := c.str(1)
	re := c.pattern(c.str(0), str)
	if re == nil {
		return
	}
	each := int64(re.NumSubexp()) + 1
	if n := product(int64(len(str))+1, each+1); n > c.limits.Values {
		c.values(product(matches(re, str), each+1))
	}
}

// replaceMatches: the replacement of each match may name groups of it.
func replaceMatches(c *call, str, p, new string) {
	re := c.pattern(p, str)
	if re == nil {
		return
	}
	if most := c.replaced(str, new, int64(len(str))+1); most > c.limits.Text {
		c.text(c.replaced(str, new, matches(re, str)))
	}
}

// replaced returns how long a text is at most of which n matches are replaced. A group that
// is named has at most the whole of the text in all matches together.
func (c *call) replaced(str, new string, n int64) int64 {
	named := int64(1)
	for _, b := range []byte(new) {
		if b == '$' {
			named++
		}
	}
	return sum(product(n, int64(len(new))), product(named, int64(len(str))))
}

// matches counts the matches in a text.
func matches(re *regexp.Regexp, str string) int64 {
	n := int64(0)
	re.ReplaceAllStringFunc(str, func(string) string { n++; return "" })
	return n
}
