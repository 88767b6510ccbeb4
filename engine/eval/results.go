package eval

import (
	"cmp"
	"slices"
	"sync"
)

// Status is the outcome of a condition. The values are those of the state and
// plan formats.
type Status string

const (
	Pass    Status = "pass"
	Fail    Status = "fail"
	Errored Status = "error"
	Unknown Status = "unknown"
)

// rank orders statuses: the worst of several is that of the whole.
var rank = map[Status]int{"": 0, Pass: 1, Unknown: 2, Fail: 3, Errored: 4}

// Worse reports whether s is worse than t as the status of the whole.
func (s Status) Worse(t Status) bool { return rank[s] > rank[t] }

// A Checked is the combined result of all conditions of one object. One whose Object is "" is
// the declaration of a block.
type Checked struct {
	Subject
	Status   Status
	Failures []string
}

// results collects the results of conditions by object. It is a part of [Evaluator], with its
// exported methods. Safe for concurrent use.
type results struct {
	mu sync.Mutex
	by map[Subject]*result
}

type result struct {
	status     Status
	failures   []string
	conditions int // the number of results that there should be, if that was declared
	results    int
}

// Declare records an object that has n conditions: unknown until each of them has a
// result. A block that is declared itself has all its objects declared, and may have
// none.
func (r *results) Declare(about Subject, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of(about).conditions = n
}

// Failed records a failure of an object that is none of its conditions.
func (r *results) Failed(about Subject, problem string) { r.add(about, Fail, problem) }

// Fails reports whether a failure was recorded for an object.
func (r *results) Fails(about Subject) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.by[about]
	return x != nil && x.status == Fail
}

// add records the result of one condition. A problem is kept of failures only.
func (r *results) add(about Subject, s Status, problem string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.of(about)
	if s.Worse(x.status) {
		x.status = s
	}
	x.results++
	if s == Fail && problem != "" {
		x.failures = append(x.failures, problem)
	}
}

// of returns the result of an object. The caller holds mu.
func (r *results) of(about Subject) *result {
	x := r.by[about]
	if x == nil {
		if r.by == nil {
			r.by = map[Subject]*result{}
		}
		x = new(result)
		r.by[about] = x
	}
	return x
}

// Checks returns the results recorded so far, sorted by address.
func (r *results) Checks() []Checked {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Checked
	for about, x := range r.by {
		s := x.status
		if s == "" || s == Pass && x.results < x.conditions {
			s = Unknown
		}
		out = append(out, Checked{about, s, slices.Sorted(slices.Values(x.failures))})
	}
	slices.SortFunc(out, func(a, b Checked) int {
		return cmp.Or(cmp.Compare(a.Config, b.Config), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}
