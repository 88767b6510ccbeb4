// Package growth knows which functions may return results that are much larger than their arguments. Before
// such a function is called, it limits the result by the arguments alone. The results of all other functions
// are in proportion to the arguments, which together are no larger than one value may be. They are measured
// after the call. Start at [Of].
package growth

import (
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/budget"
)

// A Kind is how the result of a function is counted.
type Kind byte

const (
	// Made means that the result is a new value: it is measured, and counts as made by the run. Functions that
	// are not in the table, such as those of providers, have this kind.
	Made Kind = iota
	// Small means that the result is a number, a bool or a short text. Nothing is checked.
	Small
	// Part means that the result is an argument or a part of an argument, and so not larger.
	Part
	// Shares means that the result is a new list whose elements come from the arguments.
	Shares
)

// A Bound is the limit on the results of a function.
type Bound struct {
	Kind Kind
	// Closures is set for functions whose arguments are not evaluated before the call, such as try.
	Closures bool
	// Lists is set for functions that make lists from arguments that are not lists.
	Lists bool
	// estimate estimates the size of a call's result, or the time of the call. It is nil if both are in
	// proportion to the arguments, or if the function limits them itself.
	estimate func(c *call)
}

// Trivial reports whether neither the arguments nor the result of a call need a check.
func (d Bound) Trivial() bool {
	return d.estimate == nil && (d.Kind == Small || d.Kind == Part)
}

// Of returns the bound of a function by its name, with or without a name space.
func Of(name string) Bound { return table[strings.TrimPrefix(name, "core::")] }

// Known reports whether the table has an entry for a function.
func Known(name string) bool { _, ok := table[name]; return ok }

// Check returns an error if a call with these arguments would make too large a result or take too long. With
// unknown arguments there is no error, since the function will not be called.
func (d Bound) Check(b *budget.Budget, args []cty.Value) *budget.Excess {
	if d.Trivial() || len(args) == 0 {
		return nil
	}
	c := &call{b: b, limits: b.Limits(), args: make([]cty.Value, len(args))}
	for i, v := range args {
		if c.args[i], _ = v.Unmark(); !c.args[i].IsKnown() {
			return nil
		}
	}
	c.measureAll(d.Kind == Shares)
	if d.estimate != nil && c.excess == nil {
		d.estimate(c)
	}
	return c.excess
}

// A call is a function call whose result is estimated. The arguments themselves have no marks, but their parts
// may.
type call struct {
	b      *budget.Budget
	limits budget.Limits
	args   []cty.Value
	all    budget.Size // size of all arguments together
	excess *budget.Excess
}

// text records an excess if the result is a text of n bytes and this is too long.
func (c *call) text(n int64) { c.atMost(budget.TextTooLong, n, c.limits.Text) }

// values records an excess if the result has n values and these are too many.
func (c *call) values(n int64) {
	if n > c.limits.Values {
		c.fail(&budget.Excess{Kind: budget.ValueTooLarge, Needed: n, Allowed: c.limits.Values, Values: true})
	}
}

// bytes records an excess if the texts in the result have n bytes together and these are too many.
func (c *call) bytes(n int64) { c.atMost(budget.ValueTooLarge, n, c.limits.Bytes) }

// work records an excess if the call takes n steps of a few nanoseconds and these take too long.
func (c *call) work(n int64) { c.atMost(budget.CallTooLong, n, c.limits.Work) }

func (c *call) atMost(kind budget.Kind, n, limit int64) {
	if n > limit {
		c.fail(&budget.Excess{Kind: kind, Needed: n, Allowed: limit})
	}
}

// fail records an excess. Only the first one counts.
func (c *call) fail(x *budget.Excess) {
	if x != nil && c.excess == nil {
		c.excess = x
	}
}

// measure returns the size of argument i; zero if there is none.
func (c *call) measure(i int) budget.Size {
	if i >= len(c.args) {
		return budget.Size{}
	}
	s, x := c.b.Measure(c.args[i])
	c.fail(x)
	return s
}

// measureAll checks that all arguments together are not too large for one value. If shared is set, it counts
// only the elements of lists, since the result shares them.
func (c *call) measureAll(shared bool) {
	for i := range c.args {
		s := budget.Size{Values: c.length(i)}
		if !shared {
			s = c.measure(i)
		}
		c.all.Values, c.all.Bytes, c.all.Depth = c.all.Values+s.Values, c.all.Bytes+s.Bytes, max(c.all.Depth, s.Depth)
		c.values(c.all.Values)
		if c.bytes(c.all.Bytes); c.excess != nil {
			return
		}
	}
}

// str returns argument i if it is a text, otherwise "". Numbers and bools, which are converted to texts, are
// short.
func (c *call) str(i int) string {
	if i >= len(c.args) || c.args[i].IsNull() || c.args[i].Type() != cty.String {
		return ""
	}
	return c.args[i].AsString()
}

// number returns argument i if it is a number, otherwise 0.
func (c *call) number(i int) int64 {
	if i >= len(c.args) || c.args[i].IsNull() || c.args[i].Type() != cty.Number {
		return 0
	}
	n, _ := c.args[i].AsBigFloat().Int64()
	return n
}

// length returns the number of elements of argument i.
func (c *call) length(i int) int64 {
	if i >= len(c.args) || c.args[i].IsNull() || !c.args[i].CanIterateElements() {
		return 0
	}
	return int64(c.args[i].LengthInt())
}

// maxFactor is the largest result of product and sum. It exceeds every limit.
const maxFactor = 1 << 60

// product returns a*b, at most maxFactor.
func product(a, b int64) int64 {
	if a > 0 && b > maxFactor/a {
		return maxFactor
	}
	return a * b
}

// sum returns a+b, at most maxFactor.
func sum(a, b int64) int64 { return min(a+b, maxFactor) }
