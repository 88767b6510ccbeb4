package journaling

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A Writer stores records. It is safe for concurrent use.
//
// Append accepts records in the order of its calls. It returns at once, with the function stored, which the
// caller must always call. stored waits until the records are written. Once it has returned nil, these records
// survive a crash of the process. If durable was set, they and all records before them also survive a crash of
// the machine. After an error of stored it is unknown whether the records are written.
type Writer interface {
	Append(durable bool, records ...[]byte) (stored func(context.Context) error)
}

// An Intent describes a provider call that is about to change an object.
type Intent struct {
	Address string `json:"address"` // address of the resource instance, as Terraform prints it
	Deposed string `json:"deposed,omitempty"`
	Action  string `json:"action"` // "create", "update", "delete", or "invoke" of an action
	// Invokes is the address of the action that is invoked. Address is then the address of the action's caller,
	// or of the action itself if it has no caller. Event is the moment in the change of the caller, such as
	// "AfterCreate", or "". Turn says which action it is: "0.1" is the second action of the first trigger block
	// of the caller's resource.
	Invokes string `json:"invokes,omitempty"`
	Event   string `json:"event,omitempty"`
	Turn    string `json:"turn,omitempty"`
	// Deposes is the key under which a creation keeps the object that it replaces.
	Deposes string `json:"deposes,omitempty"`
	// Known are the planned attributes that are known and not sensitive. They help a person to find an object
	// whose ID nobody knows.
	Known map[string]string `json:"known,omitempty"`
	// Inner is true for objects that exist only in the state, such as those of the built-in provider. Losing
	// such an intent loses nothing, so its record need not be durable.
	Inner bool `json:"-"`
}

// invoke is the Action of an intent to invoke an action.
const invoke = "invoke"

// InvocationIntent returns the intent to invoke an action.
func InvocationIntent(x *plans.Invocation) Intent {
	in := Intent{Address: x.Addr.String(), Action: invoke, Invokes: x.Addr.String()}
	if x.Caller != (addrs.AbsResourceInstance{}) {
		in.Address = x.Caller.String()
	}
	if x.Event != "" {
		in.Event, in.Turn = string(x.Event), fmt.Sprintf("%d.%d", x.Trigger, x.Index)
	}
	return in
}

// Repeatable reports whether the intent may be begun again without a person's decision if its outcome is
// unknown: the objects of updates and deletions can be read. A creation may have made an object that nobody
// knows of, and an action may have done anything.
func (in Intent) Repeatable() bool {
	return in.Action != plans.Create.String() && !in.IsInvocation()
}

// IsInvocation reports whether the intent is to invoke an action.
func (in Intent) IsInvocation() bool { return in.Action == invoke }

// A Journal writes the records of one apply. A nil *Journal writes none. It is safe for
// concurrent use.
type Journal struct {
	to     Writer
	run    string
	now    func() time.Time
	permit func(context.Context) error

	mu     sync.Mutex
	count  int
	first  []byte // the begin record, until it is passed to the Writer
	edits  []byte // edits for the next record, separated by commas
	nodes  []int  // numbers of the graph nodes in these edits
	values []byte // values for the next record, after a "[": see [Journal.Keep]
	summed []byte // text of the last digest, kept to reuse its memory
	graph  *graph
	open   map[string]record // intents without an outcome, by ID
	broken error             // error of an edit that could not be encoded
}

// New returns the journal of a run. No other run may have the same ID.
func New(run string, w Writer) *Journal {
	return &Journal{to: w, run: run, now: func() time.Time { return time.Now().UTC() }, graph: newGraph(), open: map[string]record{}}
}

// Guard makes every [Journal.Intent] run the function permit first. If permit returns an error, Intent
// returns an error, and the provider call must not be made. It is for applies that may lose the right to
// begin calls, such as a lost lock. Call Guard before any other method.
func (j *Journal) Guard(permit func(context.Context) error) { j.permit = permit }

// A Start is what a run starts from.
type Start struct {
	// Plan identifies the saved plan, so that the next process can continue it: see [Resume]. "" means that
	// the plan is not saved.
	Plan string
	// Stored is the stored state, and Prior the plan's prior state.
	Stored, Prior *states.State
	// Sum is [SHA256] of the stored bytes. Lineage is the lineage that the state has or will get.
	Sum, Lineage string
}

// Begin records the start of the run, with the edits that lead from the stored state to the plan's prior
// state. The record is stored together with the next one, so that a run that does nothing leaves nothing.
// Call Begin before any other method, except in a run that continues another one: such a run has no begin
// record.
func (j *Journal) Begin(s Start) error {
	if j == nil {
		return nil
	}
	for a, r := range each(s.Prior) {
		if was, now := s.Stored.Object(a), s.Prior.Object(a); was != now && digest(was) != digest(now) {
			j.Edit(a, r.ProviderOf(a.Instance.Resource.Key), was, now)
		}
	}
	for a := range each(s.Stored) {
		if s.Prior.Object(a) == nil {
			j.Edit(a, addrs.AbsProviderConfig{}, s.Stored.Object(a), nil)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.first = j.line(record{Kind: beginning, Plan: s.Plan, Lineage: s.Lineage, State: s.Sum})
	return j.broken
}

// each iterates over the objects of a state.
func each(s *states.State) func(yield func(addrs.ResourceInstanceObject, *states.Resource) bool) {
	return func(yield func(addrs.ResourceInstanceObject, *states.Resource) bool) {
		for abs, r := range s.Resources() {
			for k, in := range r.Instances {
				a := addrs.ResourceInstanceObject{Instance: abs.Instance(k)}
				if in.Current != nil && !yield(a, r) {
					return
				}
				for a.Deposed = range in.Deposed {
					if !yield(a, r) {
						return
					}
				}
			}
		}
	}
}

// Edit records that the object at an address has changed from before to now. A nil object means that there is
// none. The edit is stored with the next record, which may belong to another step.
func (j *Journal) Edit(a addrs.ResourceInstanceObject, pc addrs.AbsProviderConfig, before, now *states.Object) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.add(a, pc, before, now)
}

// Move records that an object has moved to another address. Both edits are in the same record.
func (j *Journal) Move(from, to addrs.ResourceInstanceObject, pc addrs.AbsProviderConfig, o *states.Object) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.add(to, pc, nil, o)
	j.add(from, pc, o, nil)
}

// add appends an edit, with the dependencies of its object, to the edits for the next record. The caller
// holds j.mu.
func (j *Journal) add(a addrs.ResourceInstanceObject, pc addrs.AbsProviderConfig, before, now *states.Object) {
	e := edit{Addr: a.Instance.String(), Deposed: string(a.Deposed)}
	e.Was, j.summed = digestWith(j.summed, before)
	e.Now, j.summed = digestWith(j.summed, now)
	if now != nil {
		e.Needs, e.Nodes = j.graph.add(now.Dependencies, nil)
	}
	for _, n := range e.Nodes {
		j.nodes = append(j.nodes, n.Number)
	}
	if len(j.edits) > 0 {
		j.edits = append(j.edits, ',')
	}
	var err error
	if j.edits, err = e.append(j.edits, a, pc, now); err != nil {
		j.broken = errors.Join(j.broken, fmt.Errorf("journal: %w", err))
	}
}

// Intent records that a call is about to be made, and returns its ID. After an error the call
// must not be made.
func (j *Journal) Intent(ctx context.Context, in Intent) (id string, err error) {
	if j == nil {
		return "", nil
	}
	if j.permit != nil {
		if err := j.permit(ctx); err != nil {
			return "", err
		}
	}
	j.mu.Lock()
	j.count++
	id = j.run + "." + strconv.Itoa(j.count)
	j.mu.Unlock()
	r := record{Kind: intent, At: j.now(), ID: id, Intent: &in}
	if err := j.put(ctx, r, !in.Inner); err != nil {
		return id, err
	}
	j.mu.Lock()
	j.open[id] = r
	j.mu.Unlock()
	return id, nil
}

// Outcome records that a call has returned, with the edits since the last record. problem is the provider's
// error, or "". Do not call it for a call that has not returned.
func (j *Journal) Outcome(ctx context.Context, id, problem string) error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	delete(j.open, id)
	j.mu.Unlock()
	return j.put(ctx, record{Kind: outcome, ID: id, Failed: problem != "", Problem: problem}, false)
}

// Unanswered returns the calls of this run without an outcome, in the order in which they began.
func (j *Journal) Unanswered() []Open {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	open := make([]Open, 0, len(j.open))
	for id, r := range j.open {
		open = append(open, Open{ID: id, Intent: *r.Intent, Started: r.At, Record: r.append(nil, nil)})
	}
	slices.SortFunc(open, func(a, b Open) int { return a.Started.Compare(b.Started) })
	return open
}

// Flush records the edits since the last record, if there are any.
func (j *Journal) Flush(ctx context.Context) error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	none := len(j.edits) == 0 && j.broken == nil
	j.mu.Unlock()
	if none {
		return nil
	}
	return j.put(ctx, record{Kind: edited}, false)
}

// Saving records that a state with these bytes is about to be stored.
func (j *Journal) Saving(ctx context.Context, data []byte) error {
	if j == nil {
		return nil
	}
	return j.put(ctx, record{Kind: saving, State: SHA256(data)}, true)
}

// put writes a record, with the edits and values that wait for a record. Only records that precede a call or
// a save must be durable: if a crash loses an outcome, its intent is open, and is reported.
//
// Records reach the Writer in the order in which they took the waiting edits. Otherwise the outcome of one
// call could be stored before the record of another call that contains the first call's edits.
func (j *Journal) put(ctx context.Context, r record, durable bool) error {
	nodes, stored, err := j.append(r, durable)
	if err != nil {
		return err
	}
	if err := stored(ctx); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, n := range nodes {
		j.graph.stored[n] = true
	}
	return nil
}

// recordSize is the approximate length of a record without edits. mostKept is the largest buffer, in bytes,
// that is kept for the next edits.
const (
	recordSize = 256
	mostKept   = 64 << 10
)

func (j *Journal) append(r record, durable bool) (nodes []int, stored func(context.Context) error, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return nil, nil, j.broken
	}
	lines := [][]byte{j.line(r)}
	if j.first != nil {
		lines, j.first, durable = [][]byte{j.first, lines[0]}, nil, true
	}
	nodes, j.nodes = j.nodes, nil
	return nodes, j.to.Append(durable, lines...), nil
}

// line returns a record with the edits and values that wait for a record. The caller holds j.mu.
func (j *Journal) line(r record) []byte {
	if r.At.IsZero() {
		r.At = j.now()
	}
	if len(j.edits) > 0 {
		r.Run = j.run
	}
	if len(j.values) > 0 {
		r.Values = append(j.values, ']')
	}
	line := r.append(make([]byte, 0, recordSize+len(j.edits)+len(j.values)), j.edits)
	j.edits, j.values = j.edits[:0], nil
	if cap(j.edits) > mostKept {
		j.edits = nil
	}
	return line
}
