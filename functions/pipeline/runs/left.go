package runs

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// A Left is a project of a merge that is not applied.
type Left struct {
	Pull  pipeline.Pull // the one that is merged
	Merge string        // its commit
	// Attempt and Try are those of the run when it was left: another plan or apply since makes it another question.
	Attempt, Try int
	// By is the number of the pull request whose apply has finished it; 0 if none has.
	By int `json:",omitempty"`
}

// LeftDir is the directory of the keys of the rests of merges for the state with a name: see [StateNames].
func LeftDir(repo int64, name string) string { return fmt.Sprintf("left/%d/%s", repo, name) }

// LeftKey is the key of the rest of a pull request's merge for the state with a name.
func LeftKey(p pipeline.Pull, name string) string {
	return fmt.Sprintf("%s/%d", LeftDir(p.Repo.ID, name), p.Number)
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
