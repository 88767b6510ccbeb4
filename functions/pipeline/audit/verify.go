package audit

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/requirementrules"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// A Finding is something about a chain that a person must know.
type Finding struct {
	N    int // the number of the record; 0 for the whole chain
	Text string
	// Break is set if the chain proves nothing from this record on. Other findings are worth a look.
	Break bool
}

// A Verification checks the records of one chain, in their order.
type Verification struct {
	// Known are places in the chain that somebody has noted elsewhere, for example in the records of the pipeline.
	Known []runs.Audited
	// Kept is how long records are kept. Older records may be missing. Zero means for ever.
	Kept time.Duration
	Now  time.Time

	chain    string
	start    int          // the number of the first record that there is
	seen     map[int]bool // the numbers of all records that there are
	last     Record
	lastHash string
	begun    map[string]Record // the last ApplyAllowed of each run
	ended    map[string]int    // the number of the ApplyEnded of each run
	findings []Finding
}

// Add checks the next record. n is the number that its key has.
func (v *Verification) Add(chain string, n int, data []byte) {
	if v.begun == nil {
		v.begun, v.ended, v.seen, v.chain = map[string]Record{}, map[string]int{}, map[int]bool{}, chain
	}
	v.seen[n] = true
	hash := runs.HashOf(data)
	r, err := Decode(data)
	v.known(n, hash)
	if err != nil {
		v.breaks(n, "The record cannot be read: %s.", err)
		r = Record{Chain: chain, N: n}
	} else {
		v.linked(n, r)
		v.decided(r)
		v.applied(r)
	}
	v.last, v.lastHash = r, hash
}

// End returns what was found, in the order of the records. No Add may follow.
func (v *Verification) End() []Finding {
	for _, k := range v.Known {
		switch {
		case v.seen[k.N]:
		case v.Kept > 0 && v.Now.Sub(k.At) > v.Kept:
			v.found(k.N, "The record has expired. It was written at %s.", text(k.At))
		case v.last.N == 0:
			v.breaks(k.N, "All records of the state are missing, but Lockstep has written this one at %s.", text(k.At))
		case k.N > v.last.N:
			v.breaks(k.N, "The record is missing. The chain ends with record %d, but Lockstep has written this one at %s.", v.last.N, text(k.At))
		default:
			v.breaks(k.N, "The record is missing, but Lockstep has written it at %s.", text(k.At))
		}
	}
	for _, r := range v.begun {
		if v.ended[r.Run] == 0 {
			v.found(r.N, "The end of this apply is not recorded. Either it is still in progress, or its process died.")
		}
	}
	slices.SortStableFunc(v.findings, func(a, b Finding) int { return a.N - b.N })
	return v.findings
}

func (v *Verification) breaks(n int, format string, args ...any) {
	v.findings = append(v.findings, Finding{n, fmt.Sprintf(format, args...), true})
}

func (v *Verification) found(n int, format string, args ...any) {
	v.findings = append(v.findings, Finding{n, fmt.Sprintf(format, args...), false})
}

// linked checks that a record is the successor of the one before.
func (v *Verification) linked(n int, r Record) {
	switch {
	case r.Chain != v.chain:
		v.breaks(n, "The record belongs to another chain: %s.", r.Chain)
		return
	case r.N != n:
		v.breaks(n, "The record says that it is record %d.", r.N)
		return
	}
	if v.last.N == 0 {
		v.first(r)
		return
	}
	switch {
	case n != v.last.N+1:
		v.breaks(n, "The records before it are missing, from %d to %d.", v.last.N+1, n-1)
	case r.Prev != v.lastHash:
		v.breaks(n-1, "The record was changed after record %d was written. Its SHA-256 is %s, and record %d says %s.", n, v.lastHash, n, orNone(r.Prev))
	case !r.PrevAt.Equal(v.last.At):
		v.breaks(n, "The record says that the one before it was written at %s, but that one says %s.", text(r.PrevAt), text(v.last.At))
	}
}

// first checks the first record that there is. Earlier ones may be missing if they are old enough.
func (v *Verification) first(r Record) {
	v.start = r.N
	switch {
	case r.N == 1 && r.Prev != "":
		v.breaks(1, "The record is the first one, and names a record before it.")
	case r.N == 1:
	case v.Kept > 0 && v.Now.Sub(r.PrevAt) > v.Kept:
		v.found(r.N, "The records before it have expired. The last of them was written at %s.", text(r.PrevAt))
	default:
		v.breaks(r.N, "The records before it are missing, from 1 to %d. The last of them was written at %s, and is not old enough to have expired.", r.N-1, text(r.PrevAt))
	}
}

// known compares a record with the places that somebody has noted.
func (v *Verification) known(n int, hash string) {
	for _, k := range v.Known {
		if k.N == n && k.Hash != hash {
			v.breaks(n, "The record was changed after it was written. Its SHA-256 is %s, and Lockstep has noted %s.", hash, k.Hash)
		}
	}
}

// decided makes the decision of a record again, from its facts.
func (v *Verification) decided(r Record) {
	if r.Event != ApplyAllowed {
		return
	}
	if r.TooLarge {
		v.found(r.N, "The decision cannot be made again, because its facts did not fit into the record.")
		return
	}
	if r.Question == nil {
		return
	}
	again := requirementrules.Decide(*r.Question)
	switch {
	case r.Ruling == nil || again.Outcome.Allows() != r.Ruling.Outcome.Allows():
		v.breaks(r.N, "The facts in the record lead to another decision than the one that it has.")
	case !again.Outcome.Allows():
		v.breaks(r.N, "The apply was allowed although its requirements were not met.")
	case r.Question.Facts.Planned != "" && r.Question.Facts.Planned != r.Head:
		v.breaks(r.N, "The requirements were met for commit %s, and the plan is of commit %s.", r.Question.Facts.Planned, r.Head)
	}
}

// applied checks that an apply was allowed, and that it applied the plan for which it was allowed.
func (v *Verification) applied(r Record) {
	switch r.Event {
	case ApplyAllowed:
		if n := v.ended[r.Run]; n > 0 {
			v.breaks(r.N, "The apply was allowed once more, after its end in record %d.", n)
		}
		shown := r.Plan
		if r.Parts != nil {
			shown = r.Parts.Saved
		}
		switch {
		case r.Parts != nil && r.Parts.Hash() != r.Plan:
			v.breaks(r.N, "The parts of the plan do not have its hash, %s.", orNone(r.Plan))
		case r.Applied != shown && !r.Again:
			v.breaks(r.N, "The plan to apply has the hash %s, and the plan that people have seen has %s.", orNone(r.Applied), orNone(shown))
		}
		v.begun[r.Run] = r
	case ApplyEnded:
		allowed, was := v.begun[r.Run]
		switch {
		case v.ended[r.Run] > 0:
			v.breaks(r.N, "The apply has ended already, in record %d.", v.ended[r.Run])
		case !was && r.Allowed > 0 && r.Allowed < v.start:
			v.found(r.N, "The record that allowed this apply has expired.")
		case !was || allowed.N != r.Allowed:
			v.breaks(r.N, "The apply was never allowed: record %d does not allow it.", r.Allowed)
		case allowed.Applied != r.Applied || allowed.Plan != r.Plan || allowed.Head != r.Head:
			v.breaks(r.N, "The plan that was applied is not the one that record %d allows: %s, and not %s.", allowed.N, orNone(r.Applied), orNone(allowed.Applied))
		}
		v.ended[r.Run] = r.N
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func text(t time.Time) string { return t.UTC().Format(time.DateTime + " MST") }
