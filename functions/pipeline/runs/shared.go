package runs

import (
	"crypto/hmac"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// A Shared names the check run that several runs of a pull request share. The zero value means that a run has a check run
// of its own.
type Shared struct {
	Number int // of the check run, from 1
	// First and Last are the slots of the projects in the check run: see [Run.Slot].
	First, Last int
}

// SharedBy returns the check run of a project with a slot, if the first own projects of a pull request have check runs of
// their own, and size others share one. A slot below 1 is that of a run from an earlier version, which has its own.
func SharedBy(slot, own, size int) Shared {
	if slot <= own {
		return Shared{}
	}
	n := (slot - own - 1) / size
	return Shared{n + 1, own + n*size + 1, own + (n+1)*size}
}

// IsZero reports whether a run has a check run of its own.
func (s Shared) IsZero() bool { return s == Shared{} }

// Slots returns the slots of projects that a pull request has not had before, by target. all are its runs so far. A
// project keeps its slot as long as the pull request lives, so it never moves from one check run to another one because of
// other projects.
func Slots(all []Run, targets []string) map[string]int {
	last := len(all)
	for _, r := range all {
		last = max(last, r.Slot)
	}
	out := map[string]int{}
	for _, target := range targets {
		if !slices.ContainsFunc(all, func(r Run) bool { return r.Target() == target }) {
			last++
			out[target] = last
		}
	}
	return out
}

// SharedCheck returns the check run that the run shares with others. Its Number is 0 if the run has its own.
func (r Run) SharedCheck() pipeline.SharedCheck {
	s := r.Spec.Shared
	return pipeline.SharedCheck{Deployment: r.Spec.Deployment, Pull: r.Pull.Number, Number: s.Number, First: s.First, Last: s.Last}
}

// CheckRun returns the name of the check run in which people see the run. It is [Run.Check], or the name of a check run
// that several projects share.
func (r Run) CheckRun() string {
	if r.Spec.Shared.IsZero() {
		return r.Check()
	}
	return r.SharedCheck().Name()
}

// A SharedRecord is the record of a check run that several runs of a pull request share, at one head. Its projects are in
// records of their own: see [SharedProject].
type SharedRecord struct {
	Head  string
	Check pipeline.SharedCheck
	ID    int64 `json:",omitempty"` // of the check run on GitHub, 0 if it is not known
	// Writing is the number of processes that write the check run now, since the time Since. Alone is set as long as only
	// one of them did so.
	Writing int       `json:",omitempty"`
	Since   time.Time `json:",omitzero"`
	Alone   bool      `json:",omitempty"`
	// Written is the digest of the content that the check run has. "" means that it has to be written. Moved is set if a
	// project has changed while a process writes the check run.
	Written string `json:",omitempty"`
	Moved   bool   `json:",omitempty"`
}

// SharedDir returns the directory of the keys of a pull request's [SharedRecord] records.
func SharedDir(p pipeline.Pull) string { return fmt.Sprintf("sharing/%d/%d", p.Repo.ID, p.Number) }

// SharedKey returns the key of the [SharedRecord] of a run.
func SharedKey(r Run) string {
	return fmt.Sprintf("%s/%s.%d", SharedDir(r.Pull), r.Spec.Head, r.Spec.Shared.Number)
}

// Key returns the key of the record of a shared check run of a pull request.
func (s SharedRecord) Key(p pipeline.Pull) string {
	return fmt.Sprintf("%s/%s.%d", SharedDir(p), s.Head, s.Check.Number)
}

// ProjectsDir returns the directory of the keys of the [SharedProject] records of a shared check run.
func (s SharedRecord) ProjectsDir(p pipeline.Pull) string {
	return fmt.Sprintf("shared/%d/%s/%d.%d", p.Repo.ID, s.Head, p.Number, s.Check.Number)
}

// SharedProjectKey returns the key of the [SharedProject] of a run.
func SharedProjectKey(r Run) string {
	s := SharedRecord{Head: r.Spec.Head, Check: r.SharedCheck()}
	return s.ProjectsDir(r.Pull) + "/" + r.Target()
}

// DecodeShared decodes the value of a [SharedRecord]. nil is the value of an absent record.
func DecodeShared(value []byte) (s SharedRecord, err error) {
	if value == nil {
		return s, nil
	}
	if err := json.Unmarshal(value, &s); err != nil {
		return s, fmt.Errorf("read a shared check: the record is damaged: %w", err)
	}
	return s, nil
}

// deadWriter is the time after which a process that writes a check run is dead. A function on AWS runs for 15 minutes at
// most.
const deadWriter = 20 * time.Minute

// Begin returns the record when a process begins to write the check run.
func (s SharedRecord) Begin(now time.Time) SharedRecord {
	if s.Writing > 0 && now.Sub(s.Since) > deadWriter {
		s.Writing, s.ID = 0, 0 // it may have made another check run
	}
	s.Alone, s.Written, s.Moved = s.Writing == 0, "", false
	if s.Writing++; s.Alone {
		s.Since = now.UTC()
	}
	return s
}

// End returns the record when a process has written the check run id with the content of a digest. again is set if
// the process must write once more: others wrote at the same time, this one is the last of them, and nobody knows whose
// content GitHub has.
func (s SharedRecord) End(id int64, digest string) (out SharedRecord, again bool) {
	s.ID, s.Writing = id, max(0, s.Writing-1)
	if !s.Alone {
		s.ID = 0 // another process may have made a newer check run
	}
	switch {
	case s.Writing > 0:
		return s, false
	case s.Alone && !s.Moved:
		s.Written = digest
	}
	return s, !s.Alone
}

// Fail returns the record when a process could not write the check run.
func (s SharedRecord) Fail() SharedRecord {
	s.Writing, s.Alone, s.Written = max(0, s.Writing-1), false, ""
	return s
}

// Owe returns the record when a project of the check run has changed: it has to be written. Owed reports whether the record
// already says so.
func (s SharedRecord) Owe() SharedRecord {
	s.Written, s.Moved = "", s.Writing > 0
	return s
}

// Owed reports whether the record already says what [SharedRecord.Owe] would.
func (s SharedRecord) Owed() bool { return s.Written == "" && (s.Moved || s.Writing == 0) }

// A SharedProject is the entry of a run in a shared check run. It has what the check run shows about the run, without
// texts.
type SharedProject struct {
	Target     string
	Status     github.CheckStatus
	Conclusion github.Conclusion `json:",omitempty"`
	Row        comment.SharedRow
	Proof      Proof `json:",omitzero"`
	// Report is the artifact with the plan or the error, and Reported its hash: see [Plan.Reported].
	Report   pipeline.Artifact `json:",omitzero"`
	Reported string            `json:",omitempty"`
	// Notes is the artifact with the texts beside lines of files, if there are any. Noted is set once the check run has
	// them.
	Notes pipeline.Artifact `json:",omitzero"`
	Noted bool              `json:",omitempty"`
}

// DecodeSharedProject decodes the value of a [SharedProject]. nil is the value of an absent record.
func DecodeSharedProject(value []byte) (p SharedProject, err error) {
	if value == nil {
		return p, nil
	}
	if err := json.Unmarshal(value, &p); err != nil {
		return p, fmt.Errorf("read a project of a shared check: the record is damaged: %w", err)
	}
	return p, nil
}

// A Proof says which plan of a run Lockstep has made last. A process that has made the plan writes it, and another one writes
// it to the shared check run on GitHub. Seal proves that it was not changed in between, by somebody who can write
// records: only the App's private key can make it.
type Proof struct {
	// Plan is the [Run.HighestNumber] of the plan, and Try the number of its last apply: see [Asked]. They only rise.
	Plan, Try int
	// Hash is the hash of the plan, and Again that of the plan that is applied instead. Both are "" for none.
	Hash  string `json:",omitempty"`
	Again string `json:",omitempty"`
	Seal  string `json:",omitempty"`
}

// ProofOf returns the proof of the run's present plan, which has a hash and perhaps that of a plan applied instead. seal
// makes the seal of a text.
func ProofOf(r Run, hash, again string, seal func([]byte) string) Proof {
	p := Proof{Plan: r.HighestNumber(), Try: r.Asked.Try, Hash: hash, Again: again}
	p.Seal = seal(p.sealed(r.Pull, r.Spec.Head, r.Target()))
	return p
}

// sealed returns the text of a proof that is sealed, for a target at a head.
func (p Proof) sealed(of pipeline.Pull, head, target string) []byte {
	return fmt.Appendf(nil, "plan\n%d\n%d\n%s\n%s\n%d.%d\n%s\n%s\n", of.Repo.ID, of.Number, head, target, p.Plan, p.Try, p.Hash, p.Again)
}

// IsSealed reports whether the proof is exactly as a process of Lockstep has written it. seal makes the seal of a text.
func (p Proof) IsSealed(of pipeline.Pull, head, target string, seal func([]byte) string) bool {
	return p.Seal != "" && hmac.Equal([]byte(p.Seal), []byte(seal(p.sealed(of, head, target))))
}

// Shown returns the proof that a shared check run shows from now on, for a project whose record has the proof p. sealed
// is [Proof.IsSealed]. shown is what the check run shows on GitHub, which only the App can have written.
//   - A proof without a hash takes the hash away. Its number is kept, so no older proof can come back.
//   - A sealed proof replaces an older one.
//   - In all other cases the check run keeps what it shows. Somebody may have changed the record, or put an old one back.
func (p Proof) Shown(sealed bool, shown markdown.Proof) markdown.Proof {
	mine := markdown.Proof{Plan: min(p.Plan, maxNumber), Try: min(p.Try, maxNumber), Hash: p.Hash, Again: p.Again}
	switch {
	case p.Hash == "":
		mine.Again = ""
		if shown.After(mine) {
			mine.Plan, mine.Try = shown.Plan, shown.Try
		}
		return mine
	case sealed && !shown.After(mine):
		return mine
	}
	return shown
}

// maxNumber is the largest number of a plan or an apply in a shared check run.
const maxNumber = 999_999_999

// worstShared are the conclusions of a shared check run, the worst one first.
var worstShared = []github.Conclusion{
	github.ConcludedFailure, github.ConcludedTimedOut, github.ConcludedActionRequired, github.ConcludedCancelled, github.ConcludedNeutral, github.ConcludedSkipped, github.ConcludedSuccess,
}

// ConcludeShared returns the status and the conclusion of a shared check run. The conclusion is the worst one of its
// projects, and a failure for one that Lockstep does not know. waiting is the number of projects that have no entry.
func ConcludeShared(all []SharedProject, waiting int) (github.CheckStatus, github.Conclusion) {
	done, begun, worst := 0, false, len(worstShared)-1
	for _, p := range all {
		begun = begun || p.Status != github.CheckQueued
		if p.Status != github.CheckCompleted {
			continue
		}
		done++
		// The index of an unknown conclusion is -1. It counts as a failure.
		worst = min(worst, max(0, slices.Index(worstShared, p.Conclusion)))
	}
	switch {
	case done == len(all) && waiting == 0:
		return github.CheckCompleted, worstShared[worst]
	case begun:
		return github.CheckInProgress, ""
	}
	return github.CheckQueued, ""
}

// SharedDigest returns a digest of what a shared check run has to show.
func SharedDigest(all []SharedProject, waiting int) string {
	all = slices.Clone(all)
	for i := range all {
		all[i].Noted = false
	}
	return HashOf(pipeline.Encode([]any{all, waiting}))
}

// SharedPattern returns a pattern that selects projects by their names in a command, such as "{app,net}". No name of a
// project contains a character with a meaning in it.
func SharedPattern(names []string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	return "{" + strings.Join(names, ",") + "}"
}
