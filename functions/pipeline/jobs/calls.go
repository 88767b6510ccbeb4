package jobs

import "time"

// Calls are the calls of providers that a plan or an apply has made, by their names in the protocol, such as "ReadResource".
type Calls map[string]Call

// A Call is the number of calls with one name, and the time that they took together, in seconds. Calls run side by side, so the
// time can be longer than that of the plan.
type Call struct {
	N       int
	Seconds float64
}

// Add adds a call.
func (c Calls) Add(method string, took time.Duration) {
	x := c[method]
	c[method] = Call{x.N + 1, x.Seconds + took.Seconds()}
}
