package journaling

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Progress is an apply of a saved plan that has stopped or died, as its journal records it. With it another
// process can continue the same plan, and reach the state that the first process would have reached. A nil
// *Progress is an apply that has not begun. It is read only.
//
// Progress decides nothing about the remaining changes: they follow from the plan. It contains values that
// might differ the second time: values of impure expressions, and data that was read. Objects may have been
// made with these values. So a journal is as secret as the state.
type Progress struct {
	// Began is the time when the first process began. Lineage is the lineage that the state has or will get.
	Began   time.Time
	Lineage string
	// State is the plan's prior state with all edits of the apply.
	State *states.State
	// Open are the calls of earlier applies that created an object or invoked an action, and whose outcome
	// nobody knows. Conflicts are the conflicts of earlier applies.
	Open      []Open
	Conflicts []Conflict

	calls   map[objectKey]*Call
	byID    map[string]*Call
	edited  map[objectKey]bool
	deposed map[string]addrs.DeposedKey
	values  map[string]cty.Value
}

// objectKey names an object, and the action on it if there is one. For an action to invoke, invokes is the
// name of this action.
type objectKey struct{ address, deposed, action, invokes string }

func keyOfIntent(in *Intent) objectKey {
	key := objectKey{in.Address, in.Deposed, in.Action, ""}
	if in.IsInvocation() {
		key.invokes = in.Invokes + " " + in.Event + " " + in.Turn
	}
	return key
}

// A Call is a call to a provider that an earlier process has begun.
type Call struct {
	// Open means that the outcome is unknown. Failed means that the provider returned Problem. If neither is
	// set, the call succeeded.
	Open, Failed bool
	Problem      string
	Started      time.Time
}

// Resume returns the progress of an apply of a saved plan. It returns nil if the last run in the journal has
// applied another plan, or if somebody else has written the state since that run. s has the plan, its prior
// state, and the stored state with its sum. The errors are those of [Fold].
func Resume(s Start, lines [][]byte) (*Progress, error) {
	r := resuming{start: s, original: map[string]string{}, folding: folding{exact: true, addresses: map[string]*address{}, graphs: newGraphs()}}
	for i, line := range lines {
		if err := r.add(line); err != nil {
			return nil, fmt.Errorf("record %d of the journal: %w", i+1, err)
		}
	}
	if r.progress == nil || !r.own {
		return nil, nil
	}
	open := r.out.Open
	folded, err := r.result(s.Prior)
	if err != nil {
		return nil, err
	}
	p := r.progress
	p.State, p.Conflicts = r.overtaken(folded.State), r.out.Conflicts
	for _, o := range open {
		if !o.Repeatable() && !o.found(p.State) {
			p.Open = append(p.Open, o)
		}
	}
	return p, nil
}

// resuming is the state of [Resume] after the records read so far: the edits since the last begin record, and
// the progress if that record is of the plan.
type resuming struct {
	start    Start
	original map[string]string // digests of the objects that differ in the prior state, by key
	progress *Progress
	folding
}

// overtaken adds to s the changes that the stored state has and the journal lacks. Such changes exist because a
// save of the state does not wait until the journal has the record of a call that has just returned.
func (r *resuming) overtaken(s *states.State) *states.State {
	e := s.Edit()
	look := func(a addrs.ResourceInstanceObject, pc addrs.AbsProviderConfig) {
		key := keyOf(a.Instance.String(), string(a.Deposed))
		if r.addresses[key] != nil {
			return
		}
		stored, is := r.start.Stored.Object(a), s.Object(a)
		was, known := r.original[key]
		if is := digest(is); !known {
			was = is
		}
		if now := digest(stored); now != was && now != digest(is) {
			e.SetObject(a, pc, stored)
		}
	}
	for a, res := range each(r.start.Stored) {
		look(a, res.ProviderOf(a.Instance.Resource.Key))
	}
	for a, res := range each(s) {
		if r.start.Stored.Object(a) == nil {
			look(a, res.ProviderOf(a.Instance.Resource.Key))
		}
	}
	return e.State()
}

func (r *resuming) add(line []byte) error {
	var x record
	if err := json.Unmarshal(line, &x); err != nil {
		return err
	}
	if x.Kind == beginning {
		r.addresses, r.order, r.own, r.progress = map[string]*address{}, nil, false, nil
		clear(r.original)
		if x.Plan == r.start.Plan && x.Plan != "" {
			r.progress = &Progress{
				Began: x.At, Lineage: x.Lineage, calls: map[objectKey]*Call{}, byID: map[string]*Call{}, edited: map[objectKey]bool{}, deposed: map[string]addrs.DeposedKey{}, values: map[string]cty.Value{},
			}
		}
		for _, e := range x.Edits { // edits that lead to the plan's prior state
			r.original[keyOf(e.Addr, e.Deposed)] = e.Was
		}
		x.Edits = nil
	}
	if err := r.folding.add(x, line, r.start.Stored, r.start.Sum); err != nil || r.progress == nil {
		return err
	}
	return r.progress.add(x)
}

func (p *Progress) add(r record) error {
	switch r.Kind {
	case intent:
		in := r.Intent
		c := &Call{Open: true, Started: r.At}
		p.calls[keyOfIntent(in)], p.byID[r.ID] = c, c
		if in.Deposes != "" {
			p.deposed[in.Address] = addrs.DeposedKey(in.Deposes)
		}
	case outcome:
		if c := p.byID[r.ID]; c != nil {
			c.Open, c.Failed, c.Problem = false, r.Failed, r.Problem
		}
	}
	for _, e := range r.Edits {
		p.edited[objectKey{address: e.Addr, deposed: e.Deposed}] = true
	}
	var cells []cell
	if len(r.Values) > 0 {
		if err := json.Unmarshal(r.Values, &cells); err != nil {
			return err
		}
	}
	for _, c := range cells {
		if _, known := p.values[c.Name]; known {
			continue // the first value counts for all runs: each run keeps what it found in the journal
		}
		v, err := c.decode()
		if err != nil {
			return fmt.Errorf("the value of %s: %w", c.Name, err)
		}
		p.values[c.Name] = v
	}
	return nil
}

// Done returns the number of calls that have changed an object with success.
func (p *Progress) Done() int {
	n := 0
	for key, c := range p.calls {
		if key.invokes == "" && !c.Open && !c.Failed {
			n++
		}
	}
	return n
}

// Call returns the last call for an action on an object. The second result is false if no such call was begun.
func (p *Progress) Call(a addrs.ResourceInstanceObject, action plans.Action) (Call, bool) {
	if p == nil {
		return Call{}, false
	}
	return p.call(&Intent{Address: a.Instance.String(), Deposed: string(a.Deposed), Action: action.String()})
}

// Invocation returns the last call that invoked this action of the plan. The second result is false if no such
// call was begun.
func (p *Progress) Invocation(x *plans.Invocation) (Call, bool) {
	if p == nil {
		return Call{}, false
	}
	in := InvocationIntent(x)
	return p.call(&in)
}

func (p *Progress) call(in *Intent) (Call, bool) {
	c := p.calls[keyOfIntent(in)]
	if c == nil {
		return Call{}, false
	}
	return *c, true
}

// Edited reports whether the apply has read, changed or removed the object at an address.
func (p *Progress) Edited(a addrs.ResourceInstanceObject) bool {
	return p != nil && p.edited[objectKey{address: a.Instance.String(), deposed: string(a.Deposed)}]
}

// Deposed returns the deposed key of the object that a creation at this address replaces. The result is false
// if no such creation has begun.
func (p *Progress) Deposed(a addrs.AbsResourceInstance) (addrs.DeposedKey, bool) {
	if p == nil {
		return addrs.NotDeposed, false
	}
	key, ok := p.deposed[a.String()]
	return key, ok
}

// Value returns the value that [Journal.Keep] has recorded under this name; false if there is none.
func (p *Progress) Value(name string) (cty.Value, bool) {
	if p == nil {
		return cty.NilVal, false
	}
	v, ok := p.values[name]
	return v, ok
}
