package metrics

import "time"

// A Tracer begins a span, a part of a trace. A nil Tracer does nothing.
//   - parent is the span that has caused this one; "" begins a trace. start is the beginning of the span; zero means now.
//   - attributes are pairs: a name, and then its value. They may name repositories and projects, and must not have secrets.
//
// The result is the span, for its own parts, in the format of [Parent], and a function that ends it with its error, or nil.
type Tracer func(parent Parent, name string, start time.Time, attributes ...string) (Parent, func(error))

// A Parent names a span in other processes, in the format of the header traceparent.
// Source: https://www.w3.org/TR/trace-context/#traceparent-header
type Parent = string

// Begin begins a span, unless the tracer is nil.
func (t Tracer) Begin(parent Parent, name string, start time.Time, attributes ...string) (Parent, func(error)) {
	if t == nil {
		return parent, func(error) {}
	}
	return t(parent, name, start, attributes...)
}
