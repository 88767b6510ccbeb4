package runs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// A StateID identifies the state that a saved plan is bound to. The zero value is a state that does
// not exist.
type StateID struct {
	Lineage string `json:",omitempty"`
	Serial  uint64 `json:",omitempty"`
	Version string `json:",omitempty"` // the backend's, of exactly these bytes
}

// segment makes any name one part of a key.
func segment(s string) string {
	switch s = url.PathEscape(s); s {
	case ".":
		return "%2E"
	case "..":
		return "%2E%2E"
	}
	return s
}

// Key is the key of the run's record.
func (id ID) Key() string { return id.Pull.Runs() + "/" + id.Target() }

// Target names project and workspace in keys and messages.
func (id ID) Target() string { return segment(id.Project) + "@" + segment(id.Workspace) }

// ProjectOf returns the project in a target.
func ProjectOf(target string) string {
	name, _, _ := strings.Cut(target, "@")
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}

// ShownKey is the key of the record of when the run's plan was shown.
func (r Run) ShownKey() string {
	return fmt.Sprintf("shown/%d/%d/%s.%d", r.Pull.Repo.ID, r.Pull.Number, r.Target(), r.Artifacts.Begun)
}

// Check is the name of the run's check run. No project has an "@" in its name.
func (r Run) Check() string {
	name := pipeline.HeadCheckOf(r.Spec.Deployment) + "/" + r.Project
	if r.Workspace != project.DefaultWorkspace {
		name += "@" + r.Workspace
	}
	return name
}

// Plain names the run in IDs of messages, which are short and of few characters.
func (r Run) Plain() string {
	sum := sha256.Sum256([]byte(r.Key()))
	return hex.EncodeToString(sum[:8])
}

// StateName is the name of a state in keys of records: its address, by places.Place.String, if that is in a bucket, so that the records stay
// with the state when its project gets another name. An address that is not in a bucket is made of the project's name, and so is the name of
// a state whose address is not known yet: it is the target.
func StateName(place, target string) string {
	if !strings.HasPrefix(place, "s3://") {
		return target
	}
	sum := sha256.Sum256([]byte(place))
	return "s3-" + hex.EncodeToString(sum[:16]) // each target has an @, and this one has none
}

// StateName names the state of the run in keys of records.
func (r Run) StateName() string { return StateName(r.Address.Place, r.Target()) }

// AddressKey is the key of the addresses of the state of a target's project, by base branch.
func AddressKey(repo int64, target string) string { return fmt.Sprintf("address/%d/%s", repo, target) }

// StateKey is the key of the [LastApply] of the state that the run is for.
func (r Run) StateKey() string { return StateKey(r.Pull.Repo.ID, r.StateName()) }

// StateKey is that of the state with a name: see [StateName].
func StateKey(repo int64, name string) string { return fmt.Sprintf("state/%d/%s", repo, name) }

// A LastApply is which pull request was last applied to a state.
type LastApply struct {
	Number int
	Head   string
	By     string
	State  StateID // afterwards
	// Moved is where the base branch has had the state since, while the pull request was open; "" if it stayed.
	Moved string `json:",omitempty"`
	// Into is the name of the base branch that the apply was for; "" in records of earlier versions.
	Into string `json:",omitempty"`
	// Settled is set once the pull request is merged or closed, Merged if it can never be open again.
	Settled bool
	Merged  bool `json:",omitempty"`
	// Applies counts the applies to the state, from 1, and those that are in the way again since their pull request is open
	// again: plans that were made in between know nothing of them either. The ledger counts: a record to be written has
	// 0.
	Applies int `json:",omitempty"`
}

// A Fate is what became of a pull request that was planned, or applied.
type Fate string

const (
	StillOpen Fate = "open" // or open again
	Closed    Fate = "closed"
	Merged    Fate = "merged"
	Left      Fate = "left" // open, and into a branch whose pull requests are not planned
	Gone      Fate = "gone" // open, and the base branch has removed the project, so that the merge does not have it
)

// As returns l with another fate.
func (l LastApply) As(f Fate) LastApply {
	l.Settled, l.Merged = f != StillOpen, f == Merged
	return l
}

// Unfinished reports whether the state has what a pull request was applied with, by its number, and the base branch may not have
// it: the pull request is open, or has ended with another head than the one that was applied. l is nil before the first apply.
func (l *LastApply) Unfinished(number int, head string) bool {
	return l != nil && l.Number == number && (!l.Settled || l.Head != head)
}

// Was reports whether it was by a pull request, at a head. l is nil before the first apply.
func (l *LastApply) Was(number int, head string) bool {
	return l != nil && l.Number == number && l.Head == head
}

// Count is the number of applies until then; l is nil before the first.
func (l *LastApply) Count() int {
	if l == nil {
		return 0
	}
	return l.Applies
}

// Known is the number of applies of which a plan knows that is made now for a pull request; l is nil before the first apply.
// It is one less while the last apply is that of another pull request that is open: the base branch lacks its changes,
// and the plan would take them back. So the plan is due for a check once the other one is settled.
func (l *LastApply) Known(number int) int {
	if l == nil || l.Settled || l.Number == number {
		return l.Count()
	}
	return l.Applies - 1
}

// OpenDir is the directory of the keys of all open plans of the state with a name: see [Open] and [StateName].
func OpenDir(repo int64, name string) string { return fmt.Sprintf("open/%d/%s", repo, name) }

// OpenKey is the key of the run among the open plans of the state with a name.
func (r Run) OpenKey(name string) string {
	return fmt.Sprintf("%s/%d", OpenDir(r.Pull.Repo.ID, name), r.Pull.Number)
}

// Open lists the run of a pull request under the state that its plan is of. It may be there although
// the run has no plan any more, but not the other way.
type Open struct {
	Pull   pipeline.Pull
	Author string // of the pull request
	// Target names the run among those of the pull request; "" if it is the one under which it is listed.
	Target string `json:",omitempty"`
}

// ReaderDir is the directory of the keys of all open plans of projects that depend on the one of a target.
func ReaderDir(repo int64, target string) string { return fmt.Sprintf("reader/%d/%s", repo, target) }

// ReaderKey is the key of a run among those of a project that it depends on.
func ReaderKey(r Run, target string) string {
	return fmt.Sprintf("%s/%d-%s", ReaderDir(r.Pull.Repo.ID, target), r.Pull.Number, r.Target())
}
