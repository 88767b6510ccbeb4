package journaling

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
)

// Records are encoded by hand, with the same bytes as encoding/json: an apply of many small objects writes
// two records for each and does little else.

// append appends the record as a line to b. edits are its edits, already encoded.
func (r record) append(b []byte, edits []byte) []byte {
	b = append(b, `{"kind":"`...)
	b = append(b, r.Kind...)
	b = append(b, `","at":"`...)
	b = append(r.At.AppendFormat(b, time.RFC3339Nano), '"')
	b = appendMember(b, "plan", r.Plan)
	b = appendMember(b, "lineage", r.Lineage)
	b = appendMember(b, "state", r.State)
	b = appendMember(b, "id", r.ID)
	if r.Intent != nil {
		b = r.Intent.append(append(b, `,"intent":`...))
	}
	if r.Failed {
		b = append(b, `,"failed":true`...)
	}
	b = appendMember(b, "problem", r.Problem)
	if len(r.Values) > 0 {
		b = append(append(b, `,"values":`...), r.Values...)
	}
	if c := r.Conflict; c != nil {
		b = appendString(append(b, `,"conflict":{"addr":`...), c.Addr)
		b = appendMember(b, "deposed", c.Deposed)
		b = append(appendMember(b, "now", c.Now), '}')
	}
	b = appendMember(b, "run", r.Run)
	if len(edits) > 0 {
		b = append(b, `,"edits":[`...)
		b = append(append(b, edits...), ']')
	}
	return append(b, '}')
}

func (in Intent) append(b []byte) []byte {
	b = appendString(append(b, `{"address":`...), in.Address)
	b = appendMember(b, "deposed", in.Deposed)
	b = appendString(append(b, `,"action":`...), in.Action)
	b = appendMember(b, "invokes", in.Invokes)
	b = appendMember(b, "event", in.Event)
	b = appendMember(b, "turn", in.Turn)
	b = appendMember(b, "deposes", in.Deposes)
	for i, k := range slices.Sorted(maps.Keys(in.Known)) {
		if i == 0 {
			b = append(b, `,"known":{`...)
		} else {
			b = append(b, ',')
		}
		b = appendString(append(appendString(b, k), ':'), in.Known[k])
	}
	if len(in.Known) > 0 {
		b = append(b, '}')
	}
	return append(b, '}')
}

// append appends the edit to b. The edit's state has only the object o.
func (e edit) append(b []byte, a addrs.ResourceInstanceObject, pc addrs.AbsProviderConfig, o *states.Object) ([]byte, error) {
	b = appendString(append(b, `{"addr":`...), e.Addr)
	b = appendMember(b, "deposed", e.Deposed)
	b = appendMember(b, "was", e.Was)
	b = appendMember(b, "now", e.Now)
	if o != nil {
		var err error
		if b, err = statefile.AppendObject(append(b, `,"state":`...), a, pc, o); err != nil {
			return b, err
		}
	}
	if e.Needs != 0 {
		b = strconv.AppendInt(append(b, `,"needs":`...), int64(e.Needs), 10)
	}
	if len(e.Nodes) > 0 {
		nodes, err := json.Marshal(e.Nodes)
		if err != nil {
			return b, err
		}
		b = append(append(b, `,"nodes":`...), nodes...)
	}
	return append(b, '}'), nil
}

// appendMember appends a member of an object, unless it is empty.
func appendMember(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(append(b, `,"`...), name...)
	return appendString(append(b, `":`...), value)
}

// appendString appends s as encoding/json writes it.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c >= utf8.RuneSelf || c == 0x7F {
			text, _ := json.Marshal(s) // no string fails
			return append(b, text...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
