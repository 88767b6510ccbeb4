package journaling

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/internal/jsonscan"
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
	conflict  kind = "conflict"
)

// record is a line of a journal. Each kind of record uses only some of the members.
type record struct {
	Kind    kind            `json:"kind"`
	At      time.Time       `json:"at"`
	Plan    string          `json:"plan,omitempty"`    // begin: the saved plan, see [Start]
	Lineage string          `json:"lineage,omitempty"` // begin: lineage of the state, which may not be stored yet
	State   string          `json:"state,omitempty"`   // begin, saving: SHA-256 of the stored bytes, hexadecimal; "" if nothing is stored
	ID      string          `json:"id,omitempty"`      // intent, outcome
	Intent  *Intent         `json:"intent,omitempty"`
	Failed  bool            `json:"failed,omitempty"` // outcome: with errors
	Problem string          `json:"problem,omitempty"`
	Values  json.RawMessage `json:"values,omitempty"` // a list of cells, see [Journal.Keep]
	// Conflict is set in records of kind conflict. Its Now is the digest of the run's object, as in an edit.
	Conflict *conflictAt `json:"conflict,omitempty"`
	Run      string      `json:"run,omitempty"` // run that the edits belong to
	Edits    []edit      `json:"edits,omitempty"`
}

// conflictAt is an address with a conflict.
type conflictAt struct {
	Addr    string `json:"addr"`
	Deposed string `json:"deposed,omitempty"`
	Now     string `json:"now,omitempty"` // digest of the run's object; "" for none
}

// edit replaces the object at an address, or removes it.
type edit struct {
	Addr    string `json:"addr"`
	Deposed string `json:"deposed,omitempty"`
	Was     string `json:"was,omitempty"` // digest of the object before; "" for none
	Now     string `json:"now,omitempty"` // digest of the object after; "" for none
	// State is a state file with only this object, without its dependencies. They are a node of the run's
	// dependency graph: Needs is the number of the node, and Nodes are the nodes that this edit adds to the
	// graph.
	State json.RawMessage `json:"state,omitempty"`
	Needs int             `json:"needs,omitempty"`
	Nodes []node          `json:"nodes,omitempty"`
}

// SHA256 returns the hexadecimal SHA-256 of a state file's bytes, as records have it; "" for no bytes.
func SHA256(data []byte) string {
	if len(data) == 0 {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// digest tells objects apart by all that a provider has said about them, and by their pending actions; "" for nil. The
// spelling of the JSON does not count, since stock tools indent it anew.
func digest(o *states.Object) string {
	d, _ := digestWith(nil, o)
	return d
}

// digestWith returns the [digest] of o. It builds the text to hash in the buffer b, and returns the buffer for
// the next call.
func digestWith(b []byte, o *states.Object) (string, []byte) {
	if o == nil {
		return "", b
	}
	b = slices.Grow(b[:0], 64+len(o.Private)+len(o.AttrsJSON))
	b = append(utf8.AppendRune(b, rune(o.Status)), ' ')
	b = append(strconv.AppendInt(b, o.SchemaVersion, 10), ' ')
	b = append(strconv.AppendQuote(b, string(o.Private)), ' ')
	if o.AttrsJSON != nil {
		b = jsonscan.AppendCompact(b, o.AttrsJSON)
	}
	for _, k := range slices.Sorted(maps.Keys(o.AttrsFlat)) {
		b = fmt.Appendf(b, "%q=%q ", k, o.AttrsFlat[k])
	}
	if o.Identity.JSON != nil {
		b = append(strconv.AppendInt(append(b, " identity "...), o.Identity.Version, 10), ' ')
		b = jsonscan.AppendCompact(b, o.Identity.JSON)
	}
	if pending := o.PendingText(); pending != nil {
		b = jsonscan.AppendCompact(append(b, " pending "...), pending)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12]), b
}

// target parses the address of an edit.
func (e edit) target() (addrs.ResourceInstanceObject, error) {
	a, err := addrs.ParseAbsResourceInstance(e.Addr)
	if err != nil {
		return addrs.ResourceInstanceObject{}, fmt.Errorf("the journal names %q: %w", e.Addr, err)
	}
	return addrs.ResourceInstanceObject{Instance: a, Deposed: addrs.DeposedKey(e.Deposed)}, nil
}

// apply applies the edit to the state that editor edits.
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
