// Package growth knows of every function how large its result may be, from the arguments alone,
// before it is called. It refuses to know the functions' results. Start at [Of].
package growth

import (
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/budget"
)

// A Kind is the way in which a result is bounded.
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
	// estimate computes the size of a call's result; nil: see Estimated.
	estimate func(c *call)
}

// Estimated reports whether the arguments are to be looked at before the call. If not, the
// result is at most a few times as large as the arguments are, or the function itself
// bounds it, and it is enough to look at it afterwards.
func (d Bound) Estimated() bool { return d.estimate != nil }

// Of returns the bound of a function by its name, with or without a name space.
func Of(name string) Bound {
	if d, ok := table[strings.TrimPrefix(name, "core::")]; ok {
		return d
	}
	return Bound{Kind: Made, estimate: func(c *call) { c.measureAll() }}
}

// Known reports whether a function has a bound of its own.
func Known(name string) bool { _, ok := table[name]; return ok }

// Check returns an error if a call with these arguments would make too much or take too long.
// Unknown arguments count nothing: the function will not be called.
func (d Bound) Check(b *budget.Budget, args []cty.Value) *budget.Excess {
	if d.estimate == nil || len(args) == 0 {
		return nil
	}
	c := &call{b: b, limits: b.Limits()}
	if ms := markless(args); ms != nil {
		c.args = ms
	} else {
		return nil
	}
	d.estimate(c)
	return c.excess
}

// markless returns the arguments without outer marks, nil if one of them is not known.
func markless(args []cty.Value) []cty.Value {
	out := make([]cty.Value, len(args))
	for i, v := range args {
		v, _ = v.Unmark()
		if !v.IsKnown() {
			return nil
		}
		out[i] = v
	}
	return out
}

// A call is one call whose result is estimated.
type call struct {
	b      *budget.Budget
	limits budget.Limits
	args   []cty.Value
	excess *budget.Excess
}

// text records a result that is a text of n bytes.
func (c *call) text(n int64) {
	if n > c.limits.Text && c.excess == nil {
		c.excess = &budget.Excess{Kind: budget.TextTooLong, Needed: n, Allowed: c.limits.Text}
	}
}

// values records a result with n values in it.
func (c *call) values(n int64) {
	if n > c.limits.Values && c.excess == nil {
		c.excess = &budget.Excess{Kind: budget.ValueTooLarge, Needed: n, Allowed: c.limits.Values, Values: true}
	}
}

// bytes records a result with texts of n bytes in it.
func (c *call) bytes(n int64) {
	if n > c.limits.Bytes && c.excess == nil {
		c.excess = &budget.Excess{Kind: budget.ValueTooLarge, Needed: n, Allowed: c.limits.Bytes}
	}
}

// work records about n steps of a few nanoseconds.
func (c *call) work(n int64) {
	if n > c.limits.Work && c.excess == nil {
		c.excess = &budget.Excess{Kind: budget.CallTooLong, Needed: n, Allowed: c.limits.Work}
	}
}

// fail reports an excess that was found otherwise.
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

// measureAll checks that all arguments together are not too large for one value.
func (c *call) measureAll() budget.Size {
	var all budget.Size
	for i := range c.args {
		s := c.measure(i)
		all.Values, all.Bytes, all.Depth = all.Values+s.Values, all.Bytes+s.Bytes, max(all.Depth, s.Depth)
		if c.values(all.Values); c.excess != nil {
			break
		}
		c.bytes(all.Bytes)
	}
	return all
}

// str returns an argument that is a text, "" for others; numbers and bools, which are
// converted, are short.
func (c *call) str(i int) string {
	if i >= len(c.args) || c.args[i].IsNull() || c.args[i].Type() != cty.String {
		return ""
	}
	return c.args[i].AsString()
}

// length returns how many elements an argument has.
func (c *call) length(i int) int64 {
	if i >= len(c.args) || c.args[i].IsNull() || !c.args[i].CanIterateElements() {
		return 0
	}
	return int64(c.args[i].LengthInt())
}
