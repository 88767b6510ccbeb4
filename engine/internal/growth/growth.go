// Package growth knows which functions may make much more of their arguments than these are, and
// bounds their results from the arguments alone, before they are called. Of all others it knows
// only that their results are in proportion to the arguments, which together are no larger than
// one value may be: these results are measured once they are there. Start at [Of].
package growth

import (
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/budget"
)

// A Kind is the way in which a result is counted.
type Kind byte

const (
	// Made results are new: they are measured, and count as made by the run. It is the
	// kind of functions that are not in the table, such as those of providers.
	Made Kind = iota
	// Small results are numbers, bools, short texts: nothing is checked.
	Small
	// Part results are an argument, or part of one, and no larger.
	Part
	// Shares results are lists of their own of elements that the arguments have.
	Shares
)

// A Bound is how large the results of a function may be.
type Bound struct {
	Kind Kind
	// Closures is for arguments that are not evaluated before the call.
	Closures bool
	// Lists is for functions that make lists of arguments that are none.
	Lists bool
	// estimate computes the size of a call's result, or the time that it takes; nil if both are
	// in proportion to the arguments, or if the function itself bounds them.
	estimate func(c *call)
}

// Trivial reports whether a call needs no look at its arguments or its result.
func (d Bound) Trivial() bool {
	return d.estimate == nil && (d.Kind == Small || d.Kind == Part)
}

// Of returns the bound of a function by its name, with or without a name space.
func Of(name string) Bound { return table[strings.TrimPrefix(name, "core::")] }

// Known reports whether a function has a bound of its own.
func Known(name string) bool { _, ok := table[name]; return ok }

// Check returns an error if a call with these arguments would make too much or take too long.
// Unknown arguments count nothing: the function will not be called.
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

// A call is one call whose result is estimated. Its arguments have no outer marks.
type call struct {
	b      *budget.Budget
	limits budget.Limits
	args   []cty.Value
	all    budget.Size // of the arguments together
	excess *budget.Excess
}

// text records a result that is a text of n bytes.
func (c *call) text(n int64) { c.atMost(budget.TextTooLong, n, c.limits.Text) }

// values records a result with n values in it.
func (c *call) values(n int64) {
	if n > c.limits.Values {
		c.fail(&budget.Excess{Kind: budget.ValueTooLarge, Needed: n, Allowed: c.limits.Values, Values: true})
	}
}

// bytes records a result with texts of n bytes in it.
func (c *call) bytes(n int64) { c.atMost(budget.ValueTooLarge, n, c.limits.Bytes) }

// work records about n steps of a few nanoseconds.
func (c *call) work(n int64) { c.atMost(budget.CallTooLong, n, c.limits.Work) }

func (c *call) atMost(kind budget.Kind, n, limit int64) {
	if n > limit {
		c.fail(&budget.Excess{Kind: kind, Needed: n, Allowed: limit})
	}
}

// fail reports an excess; the first one counts.
func (c *call) fail(x *budget.Excess) {
	if x != nil && c.excess == nil {
		c.excess = x
	}
}

// measure returns the size of an argument, nothing if there is no such.
func (c *call) measure(i int) budget.Size {
	if i >= len(c.args) {
		return budget.Size{}
	}
	s, x := c.b.Measure(c.args[i])
	c.fail(x)
	return s
}

// measureAll checks that all arguments together are not too large for one value; of lists whose
// elements are shared, only these count.
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

// str returns an argument that is a text, "" for others; numbers and bools, which are
// converted, are short.
func (c *call) str(i int) string {
	if i >= len(c.args) || c.args[i].IsNull() || c.args[i].Type() != cty.String {
		return ""
	}
	return c.args[i].AsString()
}

// number returns an argument that is a number, 0 for others.
func (c *call) number(i int) int64 {
	if i >= len(c.args) || c.args[i].IsNull() || c.args[i].Type() != cty.Number {
		return 0
	}
	n, _ := c.args[i].AsBigFloat().Int64()
	return n
}

// length returns how many elements an argument has.
func (c *call) length(i int) int64 {
	if i >= len(c.args) || c.args[i].IsNull() || !c.args[i].CanIterateElements() {
		return 0
	}
	return int64(c.args[i].LengthInt())
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
