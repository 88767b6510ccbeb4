package journaling

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A Writer makes records durable, in order, before it returns nil. After an error it is not known
// whether they are. It is called by many at a time.
type Writer func(ctx context.Context, records ...[]byte) error

// An Intent is a provider call that is about to change something.
type Intent struct {
	Address string `json:"address"` // of the resource instance, as Terraform prints it
	Deposed string `json:"deposed,omitempty"`
	Action  string `json:"action"` // "create", "update" or "delete"
	// Known are planned attributes that are known and not sensitive: by them a person finds an
	// object of which nobody has the ID.
	Known map[string]string `json:"known,omitempty"`
}

// A Journal writes the records of one apply. A nil *Journal writes none. It is safe for
// concurrent use.
type Journal struct {
	write Writer
	run   string
	now   func() time.Time

	mu     sync.Mutex
	count  int
	edits  []edit // of no record yet
	broken error  // an edit that could not be encoded
}

// New returns the journal of a run, whose ID no other run has.
func New(run string, write Writer) *Journal {
	return &Journal{write: write, run: run, now: func() time.Time { return time.Now().UTC() }}
}

// Begin records what the run starts from: the stored state, with the SHA-256 of its bytes and
// the lineage that it has or is to have, and how the plan's prior state differs from it. It is
// called before anything else, and nothing may be begun if it fails.
func (j *Journal) Begin(ctx context.Context, stored, prior *states.State, sum, lineage string) error {
	if j == nil {
		return nil
	}
	edits, err := differences(stored, prior)
	if err != nil {
		return err
	}
	return j.put(ctx, record{Kind: beginning, Lineage: lineage, State: sum, Edits: edits})
}

// differences returns the edits that lead from one state to another.
func differences(from, to *states.State) ([]edit, error) {
	var edits []edit
	compare := func(a addrs.ResourceInstanceObject, pc addrs.AbsProviderConfig, was, now *states.Object) error {
		if was == now || digest(was) == digest(now) {
			return nil
		}
		e, err := newEdit(a, pc, was, now)
		edits = append(edits, e)
		return err
	}
	for a, r := range each(to) {
		if err := compare(a, r.ProviderOf(a.Instance.Resource.Key), from.Object(a), to.Object(a)); err != nil {
			return nil, err
		}
	}
	for a := range each(from) {
		if to.Object(a) == nil {
			if err := compare(a, addrs.AbsProviderConfig{}, from.Object(a), nil); err != nil {
				return nil, err
			}
		}
	}
	return edits, nil
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

// Edit notes that an address holds another object, or none. It becomes durable with the next
// record, of whatever step.
func (j *Journal) Edit(a addrs.ResourceInstanceObject, pc addrs.AbsProviderConfig, was, now *states.Object) {
	if j == nil {
		return
	}
	e, err := newEdit(a, pc, was, now)
	j.add(err, e)
}

// Move notes that an object has another address. Both edits are in the same record.
func (j *Journal) Move(from, to addrs.ResourceInstanceObject, pc addrs.AbsProviderConfig, o *states.Object) {
	if j == nil {
		return
	}
	there, err := newEdit(to, pc, nil, o)
	away, _ := newEdit(from, pc, o, nil) // nothing to encode
	j.add(err, there, away)
}

func (j *Journal) add(err error, edits ...edit) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.edits = append(j.edits, edits...)
	if err != nil && j.broken == nil {
		j.broken = err
	}
}

// Intent records that a call is about to be made, and returns its ID. After an error the call
// must not be made.
func (j *Journal) Intent(ctx context.Context, in Intent) (id string, err error) {
	if j == nil {
		return "", nil
	}
	j.mu.Lock()
	j.count++
	id = fmt.Sprintf("%s.%d", j.run, j.count)
	j.mu.Unlock()
	return id, j.put(ctx, record{Kind: intent, ID: id, Intent: &in})
}

// Outcome records that a call has returned, with the edits since.
func (j *Journal) Outcome(ctx context.Context, id string, failed bool) error {
	if j == nil {
		return nil
	}
	return j.put(ctx, record{Kind: outcome, ID: id, Failed: failed})
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
	return j.put(ctx, record{Kind: edited})
}

// Saving records that a state with these bytes is about to be stored.
func (j *Journal) Saving(ctx context.Context, data []byte) error {
	if j == nil {
		return nil
	}
	return j.put(ctx, record{Kind: saving, State: SHA256(data)})
}

// put writes a record, with the edits that wait for one.
func (j *Journal) put(ctx context.Context, r record) error {
	j.mu.Lock()
	r.Edits = append(r.Edits, j.edits...)
	j.edits = nil
	err := j.broken
	j.mu.Unlock()
	if err != nil {
		return err
	}
	r.At = j.now()
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return j.write(ctx, line)
}

// Settled is the record that ends an open intent. how says who has settled it, in a word or
// two: "imported", "forgotten", "read".
func Settled(id, how string) []byte {
	line, err := json.Marshal(record{Kind: settled, At: time.Now().UTC(), ID: id, How: how})
	if err != nil {
		panic(fmt.Sprintf("journaling: %v", err))
	}
	return line
}
