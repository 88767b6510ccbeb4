package constraint

import (
	"fmt"
	"strings"

	"github.com/apparentlymart/go-versions/versions/constraints"
)

// symbols are the operators as text. In the normal form, terms with the same version have the order of this
// list.
// Source: Terraform 1.11.4, tried.
var symbols = []struct {
	op   constraints.SelectionOp
	text string
}{
	{constraints.OpGreaterThan, "> "},
	{constraints.OpGreaterThanOrEqual, ">= "},
	{constraints.OpEqual, ""},
	{constraints.OpGreaterThanOrEqualPatchOnly, "~> "}, // ~> 1.2.3: 1.2.x from 1.2.3 on
	{constraints.OpGreaterThanOrEqualMinorOnly, "~> "}, // ~> 1.2: 1.x from 1.2.0 on
	{constraints.OpLessThanOrEqual, "<= "},
	{constraints.OpLessThan, "< "},
	{constraints.OpNotEqual, "!= "},
}

// rank returns the position of an operator in [symbols].
func rank(op constraints.SelectionOp) int {
	for i, s := range symbols {
		if s.op == op {
			return i
		}
	}
	panic(fmt.Sprintf("constraint: operator %s", op))
}

// String returns the normal form, which the dependency lock file records: `>= 1.0.0, ~> 1.0, != 1.2.0`. The
// terms are sorted by version, without repetitions. The text is empty for all releases.
func (s Set) String() string {
	var b strings.Builder
	for i, t := range s.terms {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(symbols[rank(t.Operator)].text)
		v := boundary(t)
		text := v.String()
		if t.Operator == constraints.OpGreaterThanOrEqualMinorOnly {
			// After ~> with two numbers (~> 1.2), no third number may be added: ~> 1.2.0 means something else.
			numbers := fmt.Sprintf("%d.%d", v.Major, v.Minor)
			text = numbers + strings.TrimPrefix(text, fmt.Sprintf("%s.%d", numbers, v.Patch))
		}
		b.WriteString(text)
	}
	return b.String()
}
