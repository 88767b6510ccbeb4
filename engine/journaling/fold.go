package journaling

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// An Open is a provider call whose outcome nobody knows: an intent without an outcome.
type Open struct {
	ID string
	Intent
	Started time.Time
	// Record is the line to keep when the other records of the journal are dropped.
	Record []byte
}

// A Conflict is an address where the stored state has an object that the run has never had there: somebody
// else has stored it. The stored object stays. The conflict ends when a person settles it, which drops its
// record, or when the state has the run's object there.
type Conflict struct {
	Address string    // with the key of a deposed object
	Gone    bool      // the run has deleted the object there
	Since   time.Time // time of the run's last record about the address
	New     bool      // the journal has no record of the conflict yet
	// Record is the line to keep when the other records of the journal are dropped.
	Record []byte
}

// Folded is a state with a journal's edits applied.
type Folded struct {
	State     *states.State // a new state with the edits; the stored state is not changed
	Changed   bool          // State has other objects than the stored one
	Foreign   bool          // somebody else has written the state since
	Open      []Open        // in the order in which they were begun
	Conflicts []Conflict    // in the order of the journal
	Lineage   string        // lineage that the run chose; "" if the journal has no run
}

// LineageError is the error for a journal that belongs to another state than the stored one.
type LineageError struct{ Journal, State string }

func (e *LineageError) Error() string {
	return fmt.Sprintf("the journal belongs to a state of lineage %q, and the state has lineage %q", e.Journal, e.State)
}

// KindError is the error for a record of a kind that only a newer version of Lockstep knows.
type KindError struct{ Kind string }

func (e *KindError) Error() string {
	return fmt.Sprintf("its kind is %q, which this version of Lockstep does not know: use the version that wrote it, or a newer one", e.Kind)
}

// Fold returns the stored state with the records of a journal applied, in order. sum is [SHA256] of the
// stored bytes. Fold does not change stored. It fails with a *LineageError if the journal belongs to another
// state, with a *KindError if a newer version wrote it, and with another error if a record is invalid.
func Fold(stored *states.State, sum string, lines [][]byte) (Folded, error) {
	f := &folding{addresses: map[string]*address{}, graphs: newGraphs()}
	for i, line := range lines {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			return Folded{}, fmt.Errorf("record %d of the journal: %w", i+1, err)
		}
		if err := f.add(r, line, stored, sum); err != nil {
			return Folded{}, fmt.Errorf("record %d of the journal: %w", i+1, err)
		}
	}
	return f.result(stored)
}

// folding is the state of [Fold] after the records read so far.
type folding struct {
	out       Folded
	exact     bool // also apply edits that do not change the object's digest
	own       bool // the stored state is one that a run began with or was about to store
	addresses map[string]*address
	graphs    *graphs
	order     []*address
}

// address has the last edit of an address in the journal, and the objects that the run has had there.
type address struct {
	edit        // the last edit
	run  string // run of the last edit
	at   time.Time
	seen []string // digests of all objects that the run has had at the address; "" for no object
}

func (f *folding) add(r record, line []byte, stored *states.State, sum string) error {
	switch r.Kind {
	case beginning:
		if stored.Lineage != "" && r.Lineage != stored.Lineage {
			return &LineageError{Journal: r.Lineage, State: stored.Lineage}
		}
		f.out.Lineage = r.Lineage
		f.own = f.own || r.State == sum
	case saving:
		f.own = f.own || r.State == sum
	case intent:
		if r.Intent == nil {
			return fmt.Errorf("an intent without content")
		}
		f.out.Open = slices.DeleteFunc(f.out.Open, func(o Open) bool { return o.supersededBy(r.Intent) })
		f.out.Open = append(f.out.Open, Open{ID: r.ID, Intent: *r.Intent, Started: r.At, Record: withoutEdits(r, line)})
	case outcome:
		f.out.Open = slices.DeleteFunc(f.out.Open, func(o Open) bool { return o.ID == r.ID })
	case conflict:
		if r.Conflict == nil {
			return fmt.Errorf("a conflict without content")
		}
		return f.kept(r, line, stored)
	case edited:
	default:
		return &KindError{Kind: string(r.Kind)}
	}
	for _, e := range r.Edits {
		key := keyOf(e.Addr, e.Deposed)
		a := f.addresses[key]
		if a == nil {
			a = &address{seen: []string{e.Was}}
			f.addresses[key] = a
			f.order = append(f.order, a)
		}
		a.edit, a.run, a.at = e, r.Run, r.At
		f.graphs.add(r.Run, e.Nodes)
		a.seen = append(a.seen, e.Was, e.Now)
	}
	return nil
}

// kept adds a conflict that an earlier recovery has recorded, unless the stored state now has the run's
// object there.
func (f *folding) kept(r record, line []byte, stored *states.State) error {
	target, err := edit{Addr: r.Conflict.Addr, Deposed: r.Conflict.Deposed}.target()
	if err == nil && digest(stored.Object(target)) != r.Conflict.Now {
		f.conflict(Conflict{Address: target.String(), Gone: r.Conflict.Now == "", Since: r.At, Record: line})
	}
	return err
}

// conflict adds a conflict. It replaces an earlier conflict at the same address.
func (f *folding) conflict(c Conflict) {
	f.out.Conflicts = append(slices.DeleteFunc(f.out.Conflicts, func(x Conflict) bool { return x.Address == c.Address }), c)
}

func keyOf(address, deposed string) string { return address + " " + deposed }

// withoutEdits returns the line of the intent record r without the record's edits and values. It is for keeping
// the record when the stored state already has the edits.
func withoutEdits(r record, line []byte) []byte {
	if len(r.Edits) == 0 && len(r.Values) == 0 {
		return line
	}
	r.Edits, r.Values, r.Run = nil, nil, ""
	short, err := json.Marshal(r)
	if err != nil {
		return line
	}
	return short
}

// Happened returns the part of a record that is true even if the announced action is not done: the edits that
// the record carries, or nil if it carries none. Write this part instead of the record when the action is
// dropped. A record that announces nothing, such as an outcome, is returned unchanged: see [Announces].
func Happened(line []byte) []byte {
	if !Announces(line) {
		return line
	}
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return line
	}
	if len(r.Edits) == 0 {
		return nil
	}
	short, err := json.Marshal(record{Kind: edited, At: r.At, Values: r.Values, Run: r.Run, Edits: r.Edits})
	if err != nil {
		return line
	}
	return short
}

// Announces reports whether a record announces an action. Such an action must not begin before the record is
// stored. Outcomes and edits announce nothing: they have happened already.
func Announces(line []byte) bool {
	var r struct {
		Kind kind `json:"kind"`
	}
	err := json.Unmarshal(line, &r)
	return err == nil && r.Kind != outcome && r.Kind != edited
}

// result applies the last edit of each address. If the run itself has stored the state, this is right for any
// object in it, since earlier edits put the object there.
func (f *folding) result(stored *states.State) (Folded, error) {
	editor := stored.Edit()
	f.out.Foreign = !f.own && len(f.order) > 0
	for _, a := range f.order {
		target, err := a.target()
		if err != nil {
			return Folded{}, err
		}
		is := digest(stored.Object(target))
		if is == a.Now && !f.exact {
			continue
		}
		if f.out.Foreign && !slices.Contains(a.seen, is) {
			r := record{Kind: conflict, At: a.at, Conflict: &conflictAt{Addr: a.Addr, Deposed: a.Deposed, Now: a.Now}}
			f.conflict(Conflict{Address: target.String(), Gone: a.Now == "", Since: a.at, New: true, Record: r.append(nil, nil)})
			continue
		}
		needs, err := f.graphs.build(a.run, a.Needs)
		if err == nil {
			err = a.apply(target, needs, editor)
		}
		if err != nil {
			return Folded{}, err
		}
		f.out.Changed = true
	}
	f.out.State = editor.State()
	f.out.Open = slices.DeleteFunc(f.out.Open, func(o Open) bool { return o.found(f.out.State) })
	return f.out, nil
}

// supersededBy reports whether the intent next begins another call for the same object as o, and o is an
// update or a deletion. Whoever begins this call has read the object before. The invocation of an action
// supersedes nothing.
func (o Open) supersededBy(next *Intent) bool {
	return o.Repeatable() && !next.IsInvocation() && o.Address == next.Address && o.Deposed == next.Deposed
}

// found reports whether the state now has an object at the address of an open creation: somebody has imported
// it.
func (o Open) found(s *states.State) bool {
	a, err := addrs.ParseAbsResourceInstance(o.Address)
	return err == nil && o.Action == plans.Create.String() && s.Object(addrs.ResourceInstanceObject{Instance: a}) != nil
}
