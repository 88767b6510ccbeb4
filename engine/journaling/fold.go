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

// An Open is an intent whose outcome nobody knows.
type Open struct {
	ID string
	Intent
	Started time.Time
	// Record is the line that keeps it in a journal whose other records are dropped.
	Record []byte
}

// A Conflict is an address at which somebody else has stored another object than the run had
// there. The stored one stays, and the conflict until a person has settled it, which drops its
// record, or the state has the run's object there.
type Conflict struct {
	Address string    // with the key of a deposed object
	Gone    bool      // the run has deleted the object there
	Since   time.Time // of the run's last record on it
	New     bool      // it has no record yet
	// Record is the line that keeps it in a journal whose other records are dropped.
	Record []byte
}

// Folded is a state with a journal's edits applied.
type Folded struct {
	State     *states.State // with the edits; the stored one is left as it is
	Changed   bool          // State has other objects than the stored one
	Foreign   bool          // somebody else has written the state since
	Open      []Open        // in the order in which they were begun
	Conflicts []Conflict    // in the order of the journal
	Lineage   string        // that the run chose; "" if the journal has no run
}

// LineageError reports a journal that belongs to another state than the one beside it.
type LineageError struct{ Journal, State string }

func (e *LineageError) Error() string {
	return fmt.Sprintf("the journal belongs to a state of lineage %q, and the state has lineage %q", e.Journal, e.State)
}

// KindError reports a record of a newer version of Lockstep.
type KindError struct{ Kind string }

func (e *KindError) Error() string {
	return fmt.Sprintf("its kind is %q, which this version of Lockstep does not know: use the version that wrote it, or a newer one", e.Kind)
}

// Fold applies the records of a journal, in order, to the stored state. sum is [SHA256] of the
// stored bytes. The stored state is left as it is. It fails with a *LineageError if the
// journal is another state's, with a *KindError if a newer version wrote it, and with another error if a
// record cannot be understood.
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

// folding is a journal as far as it was read.
type folding struct {
	out       Folded
	exact     bool // an edit that leaves all as it is for the provider is applied, too
	own       bool // the stored state is one that a run has begun with, or was about to store
	addresses map[string]*address
	graphs    *graphs
	order     []*address
}

// address holds the edits of one address.
type address struct {
	edit        // the last
	run  string // of it
	at   time.Time
	seen []string // digests of all objects that were there, "" for none
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

// kept takes in the record of a conflict that an earlier folding has found.
func (f *folding) kept(r record, line []byte, stored *states.State) error {
	target, err := edit{Addr: r.Conflict.Addr, Deposed: r.Conflict.Deposed}.target()
	if err == nil && digest(stored.Object(target)) != r.Conflict.Now {
		f.conflict(Conflict{Address: target.String(), Gone: r.Conflict.Now == "", Since: r.At, Record: line})
	}
	return err
}

// conflict notes a conflict, in the place of an earlier one at its address.
func (f *folding) conflict(c Conflict) {
	f.out.Conflicts = append(slices.DeleteFunc(f.out.Conflicts, func(x Conflict) bool { return x.Address == c.Address }), c)
}

func keyOf(address, deposed string) string { return address + " " + deposed }

// withoutEdits is an intent's line for a journal whose edits are in the state already.
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

// result applies the last edit of each address. If the state is the run's own, this is right for
// any object in it, since earlier edits put it there.
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

// supersededBy reports whether an intent repeats an update or a deletion that was open: whoever
// does that has looked at the object. The invocation of an action repeats nothing.
func (o Open) supersededBy(next *Intent) bool {
	return o.Repeatable() && !next.IsInvocation() && o.Address == next.Address && o.Deposed == next.Deposed
}

// found reports whether the state has an object at the address of an open creation by now,
// because somebody has imported it.
func (o Open) found(s *states.State) bool {
	a, err := addrs.ParseAbsResourceInstance(o.Address)
	return err == nil && o.Action == plans.Create.String() && s.Object(addrs.ResourceInstanceObject{Instance: a}) != nil
}
