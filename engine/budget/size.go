package budget

import (
	"errors"
	"math"
	"math/big"

	"github.com/zclconf/go-cty/cty"
)

// A Size is the size of a value as seen by code that visits all parts of the value.
type Size struct {
	Values int64 // the value itself included
	Bytes  int64 // of its texts, its attribute names and its map keys
	Depth  int
}

// Measure returns the size of a value, and the excess if the value is too large. Counting stops there, so it
// never takes longer than the limit allows. Consider a list that has the same list twice, which again has the
// same list twice, and so on: it takes hardly any memory, but has more values than anybody could count.
func (b *Budget) Measure(v cty.Value) (Size, *Excess) {
	if v.Type() == cty.String && !v.IsMarked() && v.IsKnown() && !v.IsNull() {
		n := int64(len(v.AsString()))
		if l := b.limitsRef(); n <= min(l.Text, l.Digits, l.Bytes) {
			return Size{Values: 1, Bytes: n, Depth: 1}, nil
		}
	}
	m := meter{b: b, l: b.limitsRef()}
	m.value(v, 1)
	return m.size, m.excess
}

// Check returns the excess if v is too large, and nil otherwise. It does the same as [Budget.Measure], without
// the size as a result.
func (b *Budget) Check(v cty.Value) *Excess {
	if ty := v.Type(); ty == cty.Bool || ty == cty.DynamicPseudoType {
		return nil
	}
	_, x := b.Measure(v)
	return x
}

// Sum adds the sizes of the parts of a value as they are made. The zero value is empty.
type Sum struct{ Size }

// Add adds v to the sum as a part of the larger value. It returns the excess if v or the sum has become too
// large.
func (s *Sum) Add(b *Budget, v cty.Value) *Excess {
	more, x := b.Measure(v)
	s.Values += more.Values
	s.Bytes += more.Bytes
	s.Depth = max(s.Depth, more.Depth+1)
	switch l := b.limitsRef(); {
	case x != nil:
		return x
	case s.Values > l.Values:
		return &Excess{Kind: ValueTooLarge, Needed: s.Values, Allowed: l.Values, Values: true}
	case s.Bytes > l.Bytes:
		return &Excess{Kind: ValueTooLarge, Needed: s.Bytes, Allowed: l.Bytes}
	}
	return nil
}

// CheckText returns an error if a text of n bytes is too long.
func (b *Budget) CheckText(n int64) *Excess {
	if l := b.limitsRef(); n > l.Text {
		return &Excess{Kind: TextTooLong, Needed: n, Allowed: l.Text}
	}
	return nil
}

// meter counts the parts of a value. It stops when the value is too large.
type meter struct {
	b       *Budget
	l       *Limits
	size    Size
	excess  *Excess
	pending int64 // values that are not yet reported to b
}

// stepsAtATime is the number of values that are counted between two calls of Budget.Step.
const stepsAtATime = 4096

func (m *meter) fail(x *Excess) bool {
	if x != nil && m.excess == nil {
		m.excess = x
	}
	return m.excess == nil
}

// values counts n more values, and reports whether to continue.
func (m *meter) values(n int64) bool {
	m.size.Values += n
	if m.size.Values > m.l.Values {
		return m.fail(&Excess{Kind: ValueTooLarge, Needed: m.size.Values, Allowed: m.l.Values, Values: true})
	}
	if m.pending += n; m.pending >= stepsAtATime {
		m.pending = 0
		return m.fail(m.b.Step(1))
	}
	return true
}

func (m *meter) bytes(n int) bool {
	m.size.Bytes += int64(n)
	if m.size.Bytes > m.l.Bytes {
		return m.fail(&Excess{Kind: ValueTooLarge, Needed: m.size.Bytes, Allowed: m.l.Bytes})
	}
	return true
}

func (m *meter) text(s string) bool {
	if n := int64(len(s)); n > m.l.Text {
		return m.fail(&Excess{Kind: TextTooLong, Needed: n, Allowed: m.l.Text})
	}
	if d := LeadingNumber(s, m.l.Digits); d > m.l.Digits {
		return m.fail(&Excess{Kind: NumberTooLong, Needed: d, Allowed: m.l.Digits})
	}
	return m.bytes(len(s))
}

// value counts v at the given depth of nesting, and reports whether to continue.
func (m *meter) value(v cty.Value, depth int) bool {
	if !m.values(1) {
		return false
	}
	if m.size.Depth = max(m.size.Depth, depth); depth > m.l.Depth+1 {
		return m.fail(&Excess{Kind: TooDeep, Needed: int64(depth), Allowed: int64(m.l.Depth)})
	}
	if v.IsMarked() {
		v, _ = v.Unmark()
	}
	ty := v.Type()
	switch {
	case !v.IsKnown() || v.IsNull():
		return m.typ(ty, depth)
	case ty == cty.String:
		return m.text(v.AsString())
	case ty == cty.Number:
		return m.number(v.AsBigFloat())
	case ty.IsObjectType():
		for name := range ty.AttributeTypes() {
			if !m.bytes(len(name)) || !m.value(v.GetAttr(name), depth+1) {
				return false
			}
		}
	case ty.IsTupleType(), ty.IsListType(), ty.IsSetType(), ty.IsMapType():
		return m.elements(v, ty, depth)
	}
	return true
}

func (m *meter) elements(v cty.Value, ty cty.Type, depth int) bool {
	n := v.LengthInt()
	if ty.IsCollectionType() && n == 0 {
		return m.typ(ty.ElementType(), depth+1)
	}
	if n := int64(n); m.size.Values+n > m.l.Values { // before any time or memory is spent on them
		return m.values(n)
	}
	for it := v.ElementIterator(); it.Next(); {
		k, el := it.Element()
		if ty.IsMapType() && !m.bytes(len(k.AsString())) || !m.value(el, depth+1) {
			return false
		}
	}
	return true
}

// perType is the number of values that each part of a type counts as. Comparing and unifying a part of a type
// takes about 8 times as long as visiting a value.
const perType = 8

// typ counts the parts of the type of a null or unknown value. Such a value has no parts itself, but its type
// may be large.
func (m *meter) typ(ty cty.Type, depth int) bool {
	if ty.IsPrimitiveType() || ty == cty.DynamicPseudoType || ty.IsCapsuleType() {
		return true
	}
	if m.size.Depth = max(m.size.Depth, depth); depth > m.l.Depth+1 {
		return m.fail(&Excess{Kind: TooDeep, Needed: int64(depth), Allowed: int64(m.l.Depth)})
	}
	switch {
	case ty.IsCollectionType():
		return m.values(perType) && m.typ(ty.ElementType(), depth+1)
	case ty.IsTupleType():
		for _, el := range ty.TupleElementTypes() {
			if !m.values(perType) || !m.typ(el, depth+1) {
				return false
			}
		}
	case ty.IsObjectType():
		for name, el := range ty.AttributeTypes() {
			if !m.bytes(len(name)) || !m.values(perType) || !m.typ(el, depth+1) {
				return false
			}
		}
	}
	return true
}

// number counts the digits of f, if there are more than a few, and reports whether to continue. For example,
// 1e600000000 is a few bytes in a file, and 600 MB as text.
func (m *meter) number(f *big.Float) bool {
	d := Digits(f)
	if d > m.l.Digits {
		return m.fail(&Excess{Kind: NumberTooLong, Needed: d, Allowed: m.l.Digits})
	}
	return d < 512 || m.bytes(int(d))
}

// Digits returns the approximate number of digits that f has as text without an exponent.
func Digits(f *big.Float) int64 {
	if f.Sign() == 0 || f.IsInf() {
		return 1
	}
	exp := int64(f.MantExp(nil))
	if exp < 0 { // as many digits after the point as binary ones
		return -exp + int64(f.MinPrec())
	}
	return max(int64(float64(exp)*math.Log10(2)), int64(f.MinPrec())-exp)
}

// Printable reports whether no number in a value is infinite, or has more digits as text than a state may have. The value has no
// marks. Writing 1e999999999 without an exponent would take hours and a gigabyte.
func Printable(v cty.Value) bool {
	const most = 10_000
	long := errors.New("a number is too long")
	return cty.Walk(v, func(_ cty.Path, v cty.Value) (bool, error) {
		if v.Type() != cty.Number || !v.IsKnown() || v.IsNull() {
			return true, nil
		}
		if f := v.AsBigFloat(); f.IsInf() || Digits(f) > most {
			return false, long
		}
		return true, nil
	}) == nil
}

// LeadingNumber finds texts that begin with a number of more than limit characters. For such a text it returns
// limit+1, for all others 0. Reading a number of n digits takes time in the order of n*n, wherever go-cty
// converts a text.
func LeadingNumber(s string, limit int64) int64 {
	if int64(len(s)) <= limit {
		return 0
	}
	for i := int64(0); i <= limit; i++ {
		if c := s[i]; (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != '_' {
			return 0
		}
	}
	return limit + 1
}
