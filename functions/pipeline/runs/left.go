package runs

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/places"
)

// A Left is a project of a merge that is not applied.
type Left struct {
	Pull  pipeline.Pull // the one that is merged
	Merge string        // its commit
	// Attempt and Try are those of the run when it was left: another plan or apply since makes it another question.
	Attempt, Try int
	// Target is that of the run, in the entry by the address of its state; "" in its own.
	Target string `json:",omitempty"`
	// By is the number of the pull request whose apply has finished it; 0 if none has.
	By int `json:",omitempty"`
}

// LeftDir is the directory of the keys of what merges have left of the project of a target.
func LeftDir(repo int64, target string) string { return fmt.Sprintf("left/%d/%s", repo, target) }

// LeftAt is the same for the state of a run, by its address: its project may have had another name at the merge. It is "" for a state
// that Lockstep keeps itself, whose place is made of the project's name.
func LeftAt(r Run) string {
	if r.Place == "" || r.Place == places.Local.String() {
		return ""
	}
	return LeftDir(r.Pull.Repo.ID, "at/"+HashOf([]byte(r.Place + "@" + r.Workspace))[:32])
}

// LeftKey is the key of what the merge of a pull request has left of the project of a target.
func LeftKey(p pipeline.Pull, target string) string {
	return fmt.Sprintf("%s/%d", LeftDir(p.Repo.ID, target), p.Number)
}

// Of reports whether l is about the present plan and apply of a run.
func (l Left) Of(r Run) bool {
	return l.Merge != "" && l.Pull.Number == r.Pull.Number && l.Attempt == r.Attempt && l.Try == r.Try
}

// Finished returns a run whose rest the apply of another pull request has finished: nobody applies its plan any more, nor asks what
// becomes of it. ok is false if that is known, or the run is under way.
func Finished(r Run, by int) (done Run, ok bool) {
	if by == 0 || r.FinishedBy != 0 || r.Phase.UnderWay() || r.Phase == Queued || r.Phase == Planning {
		return r, false
	}
	if r.Waiting() {
		r = r.GiveUp()
	}
	r.FinishedBy, r.Late = by, false
	return r, true
}

// Finishes reports whether the outcome of a run may have finished what the merge of another pull request has left of its project:
// it is applied, and its plan was of all of it. Its base branch has to have that merge, too.
func (l Left) Finishes(r Run) bool {
	return r.Phase == Applied && Whole(r) && (l.By == 0 || l.By == r.Pull.Number) && l.Pull.Number != r.Pull.Number
}
