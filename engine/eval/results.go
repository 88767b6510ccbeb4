package eval

import (
	"cmp"
	"slices"
	"sync"
)

// Status is the outcome of a condition. The values are the words that the state and plan formats use. "" means
// that there is no outcome.
type Status string

const (
	Pass    Status = "pass"
	Fail    Status = "fail"
	Errored Status = "error"
	Unknown Status = "unknown"
)

// rank orders statuses: the status of several conditions is the worst one.
var rank = map[Status]int{"": 0, Pass: 1, Unknown: 2, Fail: 3, Errored: 4}

// Worse reports whether s is worse than t, so that s wins when statuses are combined.
func (s Status) Worse(t Status) bool { return rank[s] > rank[t] }

// A Checked is the combined result of all conditions of one object. If Object is "", it is the result of the
// block itself, for example because the block has no objects.
type Checked struct {
	Subject
	Status   Status
	Failures []string
}

// results collects the results of conditions by object. [Evaluator] embeds it, with its exported methods.
// Safe for concurrent use.
type results struct {
	mu sync.Mutex
	by map[Subject]*result
}

type result struct {
	status     Status
	failures   []string
	conditions int // number of results to expect, if declared
	results    int
}

// Declare records that an object has n conditions. Until all n have a result, the status of the object is
// unknown. Declare may also be called for the block itself, after all its objects were found. The block may
// have no objects at all.
func (r *results) Declare(about Subject, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of(about).conditions = n
}

// Failed records a failure of an object for another reason than its conditions.
func (r *results) Failed(about Subject, problem string) { r.add(about, Fail, problem) }

// Fails reports whether the object has a recorded failure.
func (r *results) Fails(about Subject) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.by[about]
	return x != nil && x.status == Fail
}

// add records the result of one condition. It keeps problem only for failures.
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

// of returns the result of an object. If there is none, it adds one. The caller holds mu.
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
