package eval

import (
	"cmp"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// A Subject is an object that has conditions.
type Subject struct {
	Kind   string // "resource", "output_value", "check" or "var", as in states and plans
	Config string // the address of the block
	Object string // that of the instance; "" means the block itself
}

// KindCheck is the kind of check blocks, whose failures are warnings.
const KindCheck = "check"

// Conditions evaluates the conditions of one object, records the results, and
// returns errors headed by summary for those that failed; warnings for check blocks,
// and for all where [Phase.ConditionsWarn] is set.
func (e *Evaluator) Conditions(cs []*config.Condition, s Scope, about Subject, summary string) diags.Diagnostics {
	var ds diags.Diagnostics
	for _, c := range cs {
		if e.w.Static && about.Kind == KindCheck {
			ds = append(ds, e.assertion(c, s)...)
			continue
		}
		r := e.condition(c, s, nil)
		ds = append(ds, r.Diags...)
		e.checks.add(e, about, cmp.Or(r.Status, Unknown), r.Problem)
		rng := c.Condition.Range()
		if r.Status == Unknown && about.Kind == KindCheck && !e.w.Static {
			ds = append(ds, diags.Warningf(&rng, "Check block assertion known after apply",
				"The condition depends on values that are not known until apply, so the check is made then.")...)
		}
		if r.Status == Fail {
			d := diags.Errorf(&rng, summary, "%s", r.Message)
			d[0].Expression, d[0].EvalContext = c.Condition, r.Context
			if about.Kind == KindCheck || e.w.ConditionsWarn {
				d[0].Severity = diags.Warning
			}
			ds = append(ds, d...)
		}
	}
	return ds
}

// assertion says what is wrong with an assertion of a check block whatever it will come to. As
// in the stock tool that is little, so that it fails no plan without it: what it mentions
// must exist, and its message make sense.
func (e *Evaluator) assertion(c *config.Condition, s Scope) diags.Diagnostics {
	ctx, ds := e.conditionContext(c, s, nil)
	if ds.HasErrors() {
		return ds
	}
	_, more := e.errorMessage(c, ctx)
	return append(ds, more...)
}

// Declare records an object that has n conditions: unknown until each of them has a
// result. A block that is declared itself has all its objects declared, and may have
// none.
func (e *Evaluator) Declare(about Subject, n int) {
	st := e.checks.add(e, about, "", "")
	e.mu.Lock()
	st.conditions = n
	e.mu.Unlock()
}

// Failed records that something else than a condition of an object failed.
func (e *Evaluator) Failed(about Subject, problem string) { e.checks.add(e, about, Fail, problem) }

// Fails reports whether a failure was recorded for an object.
func (e *Evaluator) Fails(about Subject) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	st := e.checks.by[about]
	return st != nil && st.status == Fail
}

// checks collects the results of conditions, by object.
type checks struct{ by map[Subject]*checkState }

type checkState struct {
	status     Status
	failures   []string
	conditions int // how many results there should be, if that was declared
	results    int
}

// rank orders statuses by how much they say about the whole.
var rank = map[Status]int{"": 0, Pass: 1, Unknown: 2, Fail: 3, Errored: 4}

// Worse reports whether s says worse of the whole than t.
func (s Status) Worse(t Status) bool { return rank[s] > rank[t] }

func (c *checks) add(e *Evaluator, id Subject, s Status, problem string) *checkState {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.by == nil {
		c.by = map[Subject]*checkState{}
	}
	st := c.by[id]
	if st == nil {
		st = &checkState{}
		c.by[id] = st
	}
	if s.Worse(st.status) {
		st.status = s
	}
	if s != "" {
		st.results++
	}
	if s == Fail && problem != "" {
		st.failures = append(st.failures, problem)
	}
	return st
}

// A Checked is the combined result of all conditions of one object, or says that
// a block is declared.
type Checked struct {
	Subject
	Status   Status
	Failures []string
}

// Checks returns the results recorded so far, sorted by address.
func (e *Evaluator) Checks() []Checked {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []Checked
	for id, st := range e.checks.by {
		s := st.status
		if s == "" || s == Pass && st.results < st.conditions {
			s = Unknown
		}
		out = append(out, Checked{id, s, slices.Sorted(slices.Values(st.failures))})
	}
	slices.SortFunc(out, func(a, b Checked) int {
		return cmp.Or(cmp.Compare(a.Config, b.Config), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}
