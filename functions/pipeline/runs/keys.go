package runs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// A StateID identifies the version of a state that a saved plan was made from. The zero value means that the
// state does not exist.
type StateID struct {
	Lineage string `json:",omitempty"`
	Serial  uint64 `json:",omitempty"`
	Version string `json:",omitempty"` // the backend's, of exactly these bytes
}

// segment escapes a name so that it is one segment of a key.
func segment(s string) string {
	switch s = url.PathEscape(s); s {
	case ".":
		return "%2E"
	case "..":
		return "%2E%2E"
	}
	return s
}

// Key returns the key of the run's record.
func (id ID) Key() string { return id.Pull.Runs() + "/" + id.Target() }

// Target returns the project and workspace of the run, as keys and messages name them: "network@default".
func (id ID) Target() string { return segment(id.Project) + "@" + segment(id.Workspace) }

// ProjectOf returns the name of the project in a target.
func ProjectOf(target string) string {
	name, _, _ := strings.Cut(target, "@")
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}

// WorkspaceOf returns the workspace in a target.
func WorkspaceOf(target string) string {
	_, workspace, _ := strings.Cut(target, "@")
	return ProjectOf(workspace)
}

// ShownKey returns the key of the record with the time at which the run's plan was shown.
func (r Run) ShownKey() string {
	return fmt.Sprintf("shown/%d/%d/%s.%d", r.Pull.Repo.ID, r.Pull.Number, r.Target(), r.Artifacts.Begun)
}

// Check returns the name of the run's check run: "lockstep/network". For a workspace other than the default it
// is "lockstep/network@prod"; no project's name contains an "@".
func (r Run) Check() string {
	name := pipeline.HeadCheckOf(r.Spec.Deployment) + "/" + r.Project
	if r.Workspace != project.DefaultWorkspace {
		name += "@" + r.Workspace
	}
	return name
}

// MessageName returns a short name of the run for the IDs of messages, which allow few characters.
func (r Run) MessageName() string {
	sum := sha256.Sum256([]byte(r.Key()))
	return hex.EncodeToString(sum[:8])
}

// StateName returns the name of a state in keys of records. For a state in a bucket it is a digest of the
// address, by places.Place.String. So the records stay with the state if the state's project gets another name.
// For any other state, the name is the target, because its address contains the project's name or is not known
// yet.
func StateName(place, target string) string {
	if !strings.HasPrefix(place, "s3://") {
		return target
	}
	sum := sha256.Sum256([]byte(place))
	return "s3-" + hex.EncodeToString(sum[:16]) // no target has this name, because every target contains an @
}

// StateName returns the name of the run's state in keys of records.
func (r Run) StateName() string { return StateName(r.Address.Place, r.Target()) }

// AddressKey returns the key of the record that has the state's addresses of a target's project, by base
// branch.
func AddressKey(repo int64, target string) string { return fmt.Sprintf("address/%d/%s", repo, target) }

// StateKey returns the key of the [LastApply] of the run's state.
func (r Run) StateKey() string { return StateKey(r.Pull.Repo.ID, r.StateName()) }

// StateKey returns the key of the [LastApply] of the state with a name: see [StateName].
func StateKey(repo int64, name string) string { return fmt.Sprintf("state/%d/%s", repo, name) }

// A LastApply says which pull request was last applied to a state.
type LastApply struct {
	Number int
	Head   string
	By     string
	State  StateID // afterwards
	// Moved is the address to which the base branch has moved the state since, while the pull request was open;
	// "" if the state did not move.
	Moved string `json:",omitempty"`
	// Into is the name of the base branch that the apply was for; "" in records of earlier versions.
	Into string `json:",omitempty"`
	// Settled is set once the pull request is merged or closed. Merged is set if it is merged, so that it can
	// never be opened again.
	Settled bool
	Merged  bool `json:",omitempty"`
	// Applies counts the applies to the state, from 1. A pull request that is opened again after its apply
	// counts once more, because plans that were made in between do not know that apply. The ledger sets the
	// number. In a record that a caller wants to write, the number is 0.
	Applies int `json:",omitempty"`
	// Audited is the audit record of the end of the apply. Zero means that there is none.
	Audited Audited `json:",omitzero"`
}

// An Audited is the place of a record in a chain of audit records: see package audit.
type Audited struct {
	Chain string    // its name
	N     int       // the number of the record, from 1
	Hash  string    // the SHA-256 of the record's bytes, in hexadecimal digits
	At    time.Time // of the record, in seconds
}

// A Fate says how a planned or applied pull request has ended. It is "" if the pull request has not ended.
type Fate string

const (
	StillOpen Fate = "open" // or opened again
	Closed    Fate = "closed"
	Merged    Fate = "merged"
	Left      Fate = "left" // open, but its base branch is now one whose pull requests are not planned
	Gone      Fate = "gone" // open, but the base branch has removed the project, so the merge will not have it
)

// WithFate returns l with another fate.
func (l LastApply) WithFate(f Fate) LastApply {
	l.Settled, l.Merged = f != StillOpen, f == Merged
	return l
}

// Unfinished reports whether the state may have changes of pull request number that the base branch lacks.
// That is possible if this pull request is the last one that was applied, and it is still open or has ended
// with another head than the applied one. head is its present head. l is nil before the first apply.
func (l *LastApply) Unfinished(number int, head string) bool {
	return l != nil && l.Number == number && (!l.Settled || l.Head != head)
}

// IsOf reports whether the last apply was that of pull request number at the commit head. l is nil before the
// first apply.
func (l *LastApply) IsOf(number int, head string) bool {
	return l != nil && l.Number == number && l.Head == head
}

// Count returns the number of applies to the state so far. l is nil before the first apply.
func (l *LastApply) Count() int {
	if l == nil {
		return 0
	}
	return l.Applies
}

// CountFor returns the number of applies to record with a plan that is made now for pull request number. l is
// nil before the first apply. While the last apply belongs to another open pull request, that apply does not
// count: the base branch lacks its changes, so the plan would revert them. Because the number is lower, the
// plan is checked once the other pull request is merged or closed.
func (l *LastApply) CountFor(number int) int {
	if l == nil || l.Settled || l.Number == number {
		return l.Count()
	}
	return l.Applies - 1
}

// OpenDir returns the directory of the keys of all open plans of the state with a name: see [Open] and
// [StateName].
func OpenDir(repo int64, name string) string { return fmt.Sprintf("open/%d/%s", repo, name) }

// OpenKey returns the key of the run among the open plans of the state with a name.
func (r Run) OpenKey(name string) string {
	return fmt.Sprintf("%s/%d", OpenDir(r.Pull.Repo.ID, name), r.Pull.Number)
}

// An Open is the entry of a run in the list of open plans of a state. Every run with an open plan has one. The
// entry may still exist after the run has lost its plan.
type Open struct {
	Pull   pipeline.Pull
	Author string // of the pull request
	// Target names the run among those of the pull request; "" means the target under which it is listed.
	Target string `json:",omitempty"`
}

// ReaderDir returns the directory of the keys of all open plans of projects that depend on the project of a
// target.
func ReaderDir(repo int64, target string) string { return fmt.Sprintf("reader/%d/%s", repo, target) }

// ReaderKey returns the key of a run among the open plans that depend on the project of a target.
func ReaderKey(r Run, target string) string {
	return fmt.Sprintf("%s/%d-%s", ReaderDir(r.Pull.Repo.ID, target), r.Pull.Number, r.Target())
}
