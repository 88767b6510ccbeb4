package growth

import (
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/budget"
)

// jsonEncode: the texts with their escapes, and a few bytes for each value.
func jsonEncode(c *call) {
	if len(c.args) > 0 {
		c.text(c.jsonLength(c.args[0], c.b))
	}
}

// jsonLength returns how long a value is as JSON.
func (c *call) jsonLength(v cty.Value, b *budget.Budget) int64 {
	s, x := b.Measure(v)
	c.fail(x)
	n := 16*s.Values + 6*s.Bytes // each byte may be escaped as \u001f
	if c.excess != nil || n <= c.limits.Text {
		return n
	}
	return 16*s.Values + escaped(v)
}

// escaped returns how long the texts of a value are with escapes.
func escaped(v cty.Value) int64 {
	v, _ = v.Unmark()
	if !v.IsKnown() || v.IsNull() {
		return 8
	}
	switch ty := v.Type(); {
	case ty == cty.String:
		return escapedText(v.AsString())
	case ty == cty.Number:
		return budget.Digits(v.AsBigFloat())
	case v.CanIterateElements():
		n := int64(0)
		for k, el := range v.Elements() {
			if k.Type() == cty.String && !ty.IsSetType() {
				n += escapedText(k.AsString())
			}
			n += escaped(el)
		}
		return n
	}
	return 8
}

func escapedText(s string) int64 {
	n := int64(len(s)) + 3
	for _, b := range []byte(s) {
		switch {
		case b < ' ' || b == '<' || b == '>' || b == '&' || b == 0xe2 || b >= 0x7f && b < 0xa0:
			n += 5
		case b == '"' || b == '\\':
			n++
		}
	}
	return n
}

// yamlEncode: as JSON, and the lines of texts are indented by their depth.
func yamlEncode(c *call) {
	if len(c.args) == 0 {
		return
	}
	s := c.measure(0)
	if c.excess != nil {
		return
	}
	lines := s.Values
	cty.Walk(c.args[0], func(_ cty.Path, v cty.Value) (bool, error) {
		v, _ = v.Unmark()
		if v.IsKnown() && !v.IsNull() && v.Type() == cty.String {
			lines += int64(strings.Count(v.AsString(), "\n"))
		}
		return true, nil
	})
	c.text(sum(c.jsonLength(c.args[0], c.b), product(2*lines, int64(s.Depth+1))))
}

// jsonDecode: a value for each comma and each bracket. The decoder recurses.
func jsonDecode(c *call) {
	src := c.str(0)
	values, depth, deepest := int64(1), 0, 0
	digits := int64(0)
	for i := 0; i < len(src); i++ {
		switch b := src[i]; {
		case b == '"':
			for i++; i < len(src) && src[i] != '"'; i++ {
				if src[i] == '\\' {
					i++
				}
			}
		case b == '[' || b == '{':
			values++
			depth++
			deepest = max(deepest, depth)
		case b == ']' || b == '}':
			depth--
		case b == ',' || b == ':':
			values++
		case b >= '0' && b <= '9' || b == '.':
			if digits++; digits > c.limits.Digits {
				c.fail(&budget.Excess{Kind: budget.NumberTooLong, Needed: digits, Allowed: c.limits.Digits})
				return
			}
			continue
		}
		digits = 0
	}
	if deepest > c.limits.Depth {
		c.fail(&budget.Excess{Kind: budget.TooDeep, Needed: int64(deepest), Allowed: int64(c.limits.Depth)})
	}
	c.values(values)
}

// yamlDecode: at most a value for each indicator and each line. The function itself checks the
// depth, and the expansion of aliases.
func yamlDecode(c *call) {
	values := int64(1)
	for _, b := range []byte(c.str(0)) {
		switch b {
		case ',', '[', '{', ':', '?', '\n':
			values++
		case '-':
			values++
		}
	}
	c.values(values)
}

// csvDecode: a value for each comma and each line, and the names for each line.
func csvDecode(c *call) {
	src := c.str(0)
	first, _, _ := strings.Cut(src, "\n")
	lines := int64(strings.Count(src, "\n")) + 1
	columns := int64(strings.Count(first, ",")) + 1
	c.values(sum(int64(strings.Count(src, ",")), 2*lines))
	c.work(product(lines, 64*columns))
	c.bytes(sum(int64(len(src)), product(lines, int64(len(first)))))
}
