package journaling

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
)

// kind is the kind of a record.
type kind string

const (
	beginning kind = "begin"
	intent    kind = "intent"
	outcome   kind = "outcome"
	edited    kind = "edits"
	saving    kind = "saving"
)

// record is a line of a journal. Members are those of its kind.
type record struct {
	Kind    kind      `json:"kind"`
	At      time.Time `json:"at"`
	Lineage string    `json:"lineage,omitempty"` // begin: of the state, which may not be stored yet
	State   string    `json:"state,omitempty"`   // begin, saving: SHA-256 of the stored bytes, hexadecimal; "" if nothing is stored
	ID      string    `json:"id,omitempty"`      // intent, outcome
	Intent  *Intent   `json:"intent,omitempty"`
	Failed  bool      `json:"failed,omitempty"` // outcome: with errors
	Run     string    `json:"run,omitempty"`    // of the edits
	Edits   []edit    `json:"edits,omitempty"`
}

// edit replaces the object at an address, or removes it.
type edit struct {
	Addr    string `json:"addr"`
	Deposed string `json:"deposed,omitempty"`
	Was     string `json:"was,omitempty"` // digest of the object before; "" for none
	Now     string `json:"now,omitempty"` // digest of the object after; "" for none
	// State is a state file with the object and nothing else, without its dependencies, which are
	// node Needs of the graph of the run, of which Nodes are new.
	State json.RawMessage `json:"state,omitempty"`
	Needs int             `json:"needs,omitempty"`
	Nodes []node          `json:"nodes,omitempty"`
}

// SHA256 is the form in which records name the bytes of a state file: hexadecimal, and "" for
// no bytes.
func SHA256(data []byte) string {
	if len(data) == 0 {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// digest tells objects apart by all that a provider has said about them; "" for nil. The
// spelling of the JSON does not count, since stock tools indent it anew.
func digest(o *states.Object) string {
	if o == nil {
		return ""
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%c %d %q ", o.Status, o.SchemaVersion, o.Private)
	if o.AttrsJSON != nil {
		if json.Compact(&b, o.AttrsJSON) != nil {
			b.Write(o.AttrsJSON)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(o.AttrsFlat)) {
		fmt.Fprintf(&b, "%q=%q ", k, o.AttrsFlat[k])
	}
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:12])
}

// newEdit encodes the object as a state with nothing else in it.
func newEdit(a addrs.ResourceInstanceObject, pc addrs.AbsProviderConfig, was, now *states.Object) (edit, error) {
	e := edit{Addr: a.Instance.String(), Deposed: string(a.Deposed), Was: digest(was), Now: digest(now)}
	if now == nil {
		return e, nil
	}
	var err error
	if e.State, err = statefile.AppendObject(nil, a, pc, now); err != nil {
		return e, fmt.Errorf("journal: %w", err)
	}
	return e, nil
}

// line puts a record together with edits that are encoded already.
func (r record) line(edits [][]byte) ([]byte, error) {
	b, err := json.Marshal(r)
	if err != nil || len(edits) == 0 {
		return b, err
	}
	b = append(b[:len(b)-1], `,"edits":[`...)
	b = append(b, bytes.Join(edits, []byte{','})...)
	return append(b, "]}"...), nil
}

// encode puts an edit together with its state, which is compact JSON already.
func (e edit) encode() ([]byte, error) {
	state := e.State
	e.State = nil
	b, err := json.Marshal(e)
	if err != nil || len(state) == 0 {
		return b, err
	}
	b = append(b[:len(b)-1], `,"state":`...)
	return append(append(b, state...), '}'), nil
}

// target is the address of an edit.
func (e edit) target() (addrs.ResourceInstanceObject, error) {
	a, err := addrs.ParseAbsResourceInstance(e.Addr)
	if err != nil {
		return addrs.ResourceInstanceObject{}, fmt.Errorf("the journal names %q: %w", e.Addr, err)
	}
	return addrs.ResourceInstanceObject{Instance: a, Deposed: addrs.DeposedKey(e.Deposed)}, nil
}

// apply carries out the edit.
func (e edit) apply(a addrs.ResourceInstanceObject, needs *states.Dependencies, editor *states.Editor) error {
	if len(e.State) == 0 {
		editor.SetObject(a, addrs.AbsProviderConfig{}, nil)
		return nil
	}
	s, err := statefile.Read(e.State)
	if err != nil {
		return fmt.Errorf("the journal's object %s: %w", a, err)
	}
	o, r := s.Object(a), s.Resource(a.Instance.AbsResource())
	if o == nil || r == nil {
		return fmt.Errorf("the journal's object %s is that of another address", a)
	}
	whole := *o
	whole.Dependencies = needs
	editor.SetObject(a, r.ProviderOf(a.Instance.Resource.Key), &whole)
	return nil
}
