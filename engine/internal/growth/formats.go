package growth

import (
	"strconv"

	"github.com/zclconf/go-cty/cty"
)

// format: the format itself, and for each verb its width or its argument.
func format(c *call) {
	c.text(formatted(c.str(0), func(i int, verb byte) int64 {
		if i+1 >= len(c.args) {
			return 16
		}
		return c.shown(c.args[i+1], verb)
	}))
}

// formatList: as many texts as the longest list has elements.
func formatList(c *call) {
	n := int64(1)
	empty := false
	sizes := make([]int64, len(c.args)) // of all the elements together, or of one argument for each
	lists := make([]bool, len(c.args))
	for i := 1; i < len(c.args); i++ {
		if v := c.args[i]; !v.IsNull() && v.CanIterateElements() && !v.Type().IsMapType() && !v.Type().IsObjectType() {
			lists[i] = true
			n = max(n, c.length(i))
			empty = empty || c.length(i) == 0
		}
	}
	if empty {
		return
	}
	c.values(n + 1)
	if c.excess != nil {
		return
	}
	all, each := int64(0), int64(0)
	each = formatted(c.str(0), func(i int, verb byte) int64 {
		if i+1 >= len(c.args) {
			return 16
		}
		sizes[i+1] = c.shown(c.args[i+1], verb)
		if lists[i+1] {
			all = sum(all, sizes[i+1])
			return 0
		}
		return sizes[i+1]
	})
	c.bytes(sum(all, product(n, each)))
	c.text(each)
}

// shown returns how long a value is that a verb writes.
func (c *call) shown(v cty.Value, verb byte) int64 {
	v, _ = v.Unmark()
	if !v.IsKnown() || v.IsNull() {
		return 16
	}
	s, x := c.b.Measure(v)
	c.fail(x)
	n := s.Bytes + 32*s.Values
	switch {
	case v.Type() == cty.String && (verb == 'x' || verb == 'X'):
		n *= 3
	case v.Type() == cty.String && verb == 'q', v.Type() != cty.String:
		n = c.jsonLength(v, c.b) + 512 // the digits of numbers
	}
	return n
}

// formatted returns how long a formatted text is at most. shown returns how long the
// argument i is, written by a verb.
func formatted(f string, shown func(i int, verb byte) int64) int64 {
	total, next := int64(len(f)), 0
	for i := 0; i < len(f); i++ {
		if f[i] != '%' {
			continue
		}
		v := scanVerb(f, i+1)
		i = v.end
		if v.verb == '%' || v.verb == 0 {
			total = sum(total, v.width)
			continue
		}
		arg := next
		if v.arg > 0 {
			arg = v.arg - 1
		}
		next = arg + 1
		total = sum(total, max(v.width, sum(v.precision, shown(arg, v.verb))))
	}
	return total
}

// A verb is a part of a format that stands for an argument.
type verb struct {
	width, precision int64
	arg              int // from 1; 0 is the next one
	verb             byte
	end              int // where the verb stands
}

// scanVerb reads the part behind a percent sign: flags, width, precision, an index, a letter, in
// any order.
func scanVerb(f string, i int) verb {
	v := verb{}
	to := &v.width
	for ; i < len(f); i++ {
		switch b := f[i]; {
		case b == '.':
			to = &v.precision
		case b == '0' || b == '+' || b == '-' || b == ' ' || b == '#':
		case b >= '1' && b <= '9':
			*to, i = digits(f, i)
		case b == '[':
			n, end := digits(f, i+1)
			v.arg = int(min(n, 1<<30))
			i = end
		case b == ']':
		default:
			v.verb, v.end = b, i
			return v
		}
	}
	v.end = i
	return v
}

// digits reads a number and returns it with the index of its last digit.
func digits(f string, i int) (int64, int) {
	start := i
	for i < len(f) && f[i] >= '0' && f[i] <= '9' {
		i++
	}
	n, err := strconv.ParseInt(f[start:i], 10, 64)
	if err != nil && i > start {
		n = maxFactor
	}
	return min(n, maxFactor), max(i-1, start)
}
