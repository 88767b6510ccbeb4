package growth

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/budget"
)

// written estimates the result of functions that write all their arguments as one text: it has at least the
// texts in the arguments.
func written(c *call) { c.text(c.all.Bytes) }

// yamlEncode estimates the result of yamlencode: lines of texts are indented by their depth.
func yamlEncode(c *call) {
	lines := c.all.Values
	cty.Walk(c.args[0], func(_ cty.Path, v cty.Value) (bool, error) {
		v, _ = v.Unmark()
		if v.IsKnown() && !v.IsNull() && v.Type() == cty.String {
			lines += int64(strings.Count(v.AsString(), "\n"))
		}
		return true, nil
	})
	c.text(sum(c.all.Bytes, product(2*lines, int64(c.all.Depth+1))))
}

// jsonDecode estimates the result of jsondecode: a value for each comma and each bracket. The decoder is
// recursive, and reading n digits takes n*n steps.
func jsonDecode(c *call) {
	src := c.str(0)
	values, depth, deepest, digits := int64(1), int64(0), int64(0), int64(0)
	for i := 0; i < len(src); i++ {
		switch b := src[i]; b {
		case '"':
			for i++; i < len(src) && src[i] != '"'; i++ {
				if src[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			values++
			depth++
			deepest = max(deepest, depth)
		case ']', '}':
			depth--
		case ',', ':':
			values++
		case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '.':
			digits++
			if c.atMost(budget.NumberTooLong, digits, c.limits.Digits); c.excess != nil {
				return
			}
			continue
		}
		digits = 0
	}
	c.atMost(budget.TooDeep, deepest, int64(c.limits.Depth))
	c.values(values)
}

// decoded returns the estimate for a function that decodes a text. The result has at most one value more than
// the text has bytes that are in ends, such as commas and newlines. A decoder makes hundreds of bytes for each
// such byte.
func decoded(ends string) func(c *call) {
	return func(c *call) {
		n := int64(1)
		for _, b := range []byte(c.str(0)) {
			if strings.IndexByte(ends, b) >= 0 {
				n++
			}
		}
		c.values(n)
	}
}

// split estimates the result of split: one text more than there are separators.
func split(c *call) { c.values(int64(strings.Count(c.str(1), c.str(0))) + 2) }

// join estimates the result of join: all elements of all lists, and the separators between them.
func join(c *call) {
	c.text(c.all.Bytes + product(c.all.Values, int64(len(c.str(0)))))
}

// indent estimates the result of indent: the indentation after each line end.
func indent(c *call) {
	c.text(product(max(c.number(0), 0), int64(strings.Count(c.str(1), "\n"))) + int64(len(c.str(1))))
}

// aVerb matches a verb in a format, with its width, precision and index.
// Source: go-cty 1.19, cty/function/stdlib/format_fsm.rl.
var aVerb = regexp.MustCompile(`%%|%[-+ #0]*([0-9]*)(?:\.([0-9]*))?(?:\[([0-9]+)\])?[a-zA-Z]`)

// maxShort is the size in bytes that is assumed for a number, without counting its digits.
const maxShort = 512

// format estimates the result of format: the format itself, and the width and the argument of each verb.
func format(c *call) { formats(c, false) }

// formatList estimates the result of formatlist: as many texts as the longest list has elements. Each element
// of a list is in one text.
func formatList(c *call) { formats(c, true) }

func formats(c *call, lists bool) {
	n, all, each := int64(1), int64(0), int64(len(c.str(0)))
	next := int64(1)
	for _, verb := range aVerb.FindAllStringSubmatch(c.str(0), -1) {
		if verb[0] == "%%" {
			continue
		}
		if verb[3] != "" {
			next = atoi(verb[3])
		}
		each = sum(each, sum(atoi(verb[1]), atoi(verb[2])))
		if i := int(next); i < len(c.args) {
			s, ty := c.measure(i), c.args[i].Type()
			size := s.Bytes
			if ty != cty.String {
				size += 16*s.Values + maxShort
			}
			if lists && (ty.IsListType() || ty.IsTupleType() || ty.IsSetType()) {
				n, all = max(n, c.length(i)), sum(all, size)
			} else {
				each = sum(each, size)
			}
		}
		next++
	}
	c.text(each)
	c.bytes(sum(all, product(n, each)))
}

// atoi returns the number that digits spell; 0 for "".
func atoi(digits string) int64 {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil && digits != "" {
		return maxFactor
	}
	return min(n, maxFactor)
}

// parseInt estimates the time of parseint: reading n digits takes n*n steps.
func parseInt(c *call) {
	c.atMost(budget.NumberTooLong, int64(len(c.str(0))), c.limits.Digits)
}

// bcryptCost estimates the time of bcrypt: each increase of the cost by 1 doubles the time. The function
// itself rejects a cost above 31.
func bcryptCost(c *call) {
	if cost := c.number(1); cost <= 31 {
		c.atMost(budget.CallTooLong, 100_000<<max(cost, 0), 100_000<<c.limits.BcryptCost)
	}
}

// maxPrivateKey is the largest size in bytes of a PEM private key that is passed to rsadecrypt. Keys of 16384
// bits have 12.7 kB; a key of twice the size takes eight times as long.
const maxPrivateKey = 16 << 10

func rsaKey(c *call) {
	n := int64(len(c.str(1)))
	c.atMost(budget.CallTooLong, product(n, product(n, n)), maxPrivateKey*maxPrivateKey*maxPrivateKey)
}
