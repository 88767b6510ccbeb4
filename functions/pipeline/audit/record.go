package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/requirementrules"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// An Event is the kind of a record.
type Event string

// The kinds of records. A decision is recorded before it takes effect, and the end of an apply before it is reported.
const (
	ApplyAllowed    Event = "apply allowed" // the next thing is the first change
	ApplyEnded      Event = "apply ended"   // completely, with a failure, or by `lockstep stop`
	ApplyRefused    Event = "apply refused" // nothing was changed
	RecoverAllowed  Event = "recover allowed"
	LockAllowed     Event = "lock allowed"
	UnlockAllowed   Event = "unlock allowed"
	OverrideAllowed Event = "override allowed"
)

// Events are all kinds of records.
var Events = []Event{ApplyAllowed, ApplyEnded, ApplyRefused, RecoverAllowed, LockAllowed, UnlockAllowed, OverrideAllowed}

// A Record is one entry of a chain.
type Record struct {
	Chain string // its name: see [ChainOf]
	N     int    // its number in the chain, from 1
	// Prev is the SHA-256 of the bytes of the record before, in hexadecimal digits; "" in the first record. PrevAt is
	// the time of that record.
	Prev   string    `json:",omitempty"`
	PrevAt time.Time `json:",omitzero"`
	At     time.Time
	Event  Event
	// By is the login of the person who gave the command; "" if nobody did. For is the ID of the message with the
	// command; "" in records of an apply.
	By  string `json:",omitempty"`
	For string `json:",omitempty"`

	Repo      string // OWNER/NAME
	Pull      int    // the number of the pull request
	Project   string
	Dir       string
	Workspace string
	State     string `json:",omitempty"` // the address of the state; "" if it was not known
	// Run identifies the apply: all its records have the same text.
	Run string

	Head  string `json:",omitempty"` // commits
	Base  string `json:",omitempty"`
	Merge string `json:",omitempty"`
	// Plan is the hash of the plan that people have seen. It is the hash of Parts, if they are known. Parts also has the
	// versions of Lockstep and of the providers. Applied is the hash of the bytes of the plan that is applied. These are
	// the bytes in Parts, with one exception: if Lockstep had to make the plan again, with the same changes, Again is true.
	Plan    string          `json:",omitempty"`
	Parts   *runs.PlanParts `json:",omitempty"`
	Applied string          `json:",omitempty"`
	Again   bool            `json:",omitempty"`
	// Question has the requirements and all facts, and Ruling is the decision about them. Both are nil if the base
	// branch has no requirements. TooLarge is set if the facts did not fit into a record.
	Question *requirementrules.Question `json:",omitempty"`
	Ruling   *rulings.Ruling            `json:",omitempty"`
	TooLarge bool                       `json:",omitempty"`
	// Approved are the people whose approvals counted.
	Approved []string `json:",omitempty"`
	// Reasons say why a command was refused, in Markdown. For a lock or an override, it is the person's reason.
	Reasons string `json:",omitempty"`

	// Serial and Lineage are those of the state: before an apply in ApplyAllowed, and afterwards in ApplyEnded.
	Serial  uint64 `json:",omitempty"`
	Lineage string `json:",omitempty"`
	// The following fields are set in ApplyEnded. Allowed is the number of the record that allowed the apply.
	// Failed and Remaining say how the apply ended, and Counts what it has changed.
	Allowed   int             `json:",omitempty"`
	Failed    bool            `json:",omitempty"`
	Remaining int             `json:",omitempty"`
	Counts    counting.Counts `json:",omitzero"`
}

// maxRecord is the maximum length of a record in bytes. A decision about 5,000 files with owners has about 1 MB.
const maxRecord = 4 << 20

// ChainOf returns the name of the chain of a run's state. The repositories of several Apps may have the same IDs, so
// the name begins with that of the App, except for the first App.
func ChainOf(r runs.Run) string {
	name := strings.TrimPrefix(runs.StateKey(r.Pull.Repo.ID, r.StateName()), "state/")
	if r.Pull.App != "" {
		name = "~" + r.Pull.App + "/" + name
	}
	return name
}

// Of returns a record about a run, with everything that the run knows.
func Of(r runs.Run, event Event, by string) Record {
	return Record{
		Event: event, By: by, Repo: r.Pull.Repo.String(), Pull: r.Pull.Number, Project: r.Project, Dir: r.Spec.Dir, Workspace: r.Workspace,
		State: r.Address.Place, Run: fmt.Sprintf("%s/%d", r.Key(), r.Asked.Try),
		Head: r.Spec.Head, Base: r.Spec.Base, Merge: r.Spec.Merge, Plan: r.Plan.Hash,
	}
}

// encode returns the bytes of a record. A question that is too large is left out.
func encode(r Record) []byte {
	data := pipeline.Encode(r)
	if len(data) > maxRecord {
		r.Question, r.TooLarge = nil, true
		data = pipeline.Encode(r)
	}
	return data
}

// Decode reads a record. A field of a later version is an error, because this version does not know its
// meaning.
func Decode(data []byte) (r Record, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err = dec.Decode(&r); err == nil && dec.More() {
		err = fmt.Errorf("there is more than one value")
	}
	return r, err
}
