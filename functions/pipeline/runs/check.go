package runs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// A CheckRecord is the record of the check of one run at its head. If pull requests share a commit, GitHub
// shows a check of the commit on each of them. So all records with the same check at the same commit are read
// together.
type CheckRecord struct {
	Pull  pipeline.Pull
	Key   string // of the run
	Check string // its name
	// Merged is set once the pull request is merged. From then on, an open pull request with the same head
	// ignores this check.
	Merged bool  `json:",omitempty"`
	ID     int64 // of the check run, 0 if it is not known yet
	// Shared is set if the project shares its check run with others: see [Shared]. ID is then 0.
	Shared bool `json:",omitempty"`
	// Asked is set before Lockstep first requests a new check run from GitHub. So a check run may exist
	// although ID is not known.
	Asked bool `json:",omitempty"`
	// Twins is the number of times that two processes created a check run for this record at the same time, or
	// may have written to an older check run. Looked is the value of Twins at the beginning of the last search
	// for older check runs. The search has completed the check runs that it found.
	Twins  int `json:",omitempty"`
	Looked int `json:",omitempty"`
	Status github.CheckStatus
	// Conclusion is the conclusion of this run alone. Shown is the conclusion in its check run, and Around the
	// [AroundDigest] of its text. Shown and Around are recorded once the check run is written.
	Conclusion, Shown github.Conclusion
	Around            string `json:",omitempty"`
	// Required is the decision about the requirements for the apply, as the check run shows it. It is recorded
	// once the check run is written. It is nil if there are no requirements, or if it is too long: see
	// [ForRecord].
	Required *rulings.Ruling `json:",omitempty"`
	// Behind are the applies that come before this one, as the check run shows them. It is recorded once the
	// check run is written.
	Behind *comment.Behind `json:",omitempty"`
}

// CheckDir returns the directory of the checks of a run's project and workspace at its commit: one record for
// each pull request with that head. Other projects are in other directories, because a commit can have checks
// of thousands of projects.
func CheckDir(r Run) string {
	return fmt.Sprintf("sha/%d/%s/%s", r.Pull.Repo.ID, r.Spec.Head, r.Target())
}

// CheckKey returns the key of the [CheckRecord] of a run.
func CheckKey(r Run) string { return fmt.Sprintf("%s/%d", CheckDir(r), r.Pull.Number) }

// DecodeCheck decodes the value of a record. nil is the value of an absent record.
func DecodeCheck(value []byte) (c CheckRecord, err error) {
	if value == nil {
		return c, nil
	}
	if err := json.Unmarshal(value, &c); err != nil {
		return c, fmt.Errorf("read a check: the record is damaged: %w", err)
	}
	return c, nil
}

// MayHaveDuplicates reports whether older check runs of this check may still be open on GitHub. If so, the
// process that writes the check next must search for them.
func (c CheckRecord) MayHaveDuplicates() bool { return c.Twins > c.Looked }

// AfterWrite returns the record after a process has written the check run. w has what was written: ID, Status,
// Conclusion, and all that the check run shows. The parameter own is the record as the process had read it
// before.
//
// changed is false if the record stays as it is, or is gone. again is set if the process must write once more,
// for one of two reasons. Another process created a check run at the same time, and people see the newest one.
// Or another process has written another status or conclusion meanwhile, and this process has overwritten it.
func (c CheckRecord) AfterWrite(own, w CheckRecord) (out CheckRecord, changed, again bool) {
	switch {
	case c.Key == "":
		return c, false, false
	// In the second case, this process may have written to the older check run.
	case c.ID != 0 && c.ID != w.ID && c.ID != own.ID, c.Twins > own.Twins:
		c.Twins++
		return c, true, true
	case c.Status != w.Status || c.Conclusion != w.Conclusion || c.Shown != own.Shown:
		c.ID, c.Shown = w.ID, "" // nobody knows which write GitHub got last
		return c, true, true
	case c.ID == w.ID && c.Shown == w.Shown && c.Around == w.Around && !c.MayHaveDuplicates():
		return c, false, false
	}
	c.Looked = c.Twins // If there were duplicates, this process has searched for them: it had read the same value of Twins.
	c.ID, c.Shown, c.Around, c.Required, c.Behind = w.ID, w.Shown, w.Around, w.Required, w.Behind
	return c, true, false
}

// maxBrief is the maximum length of a decision in a check record, in bytes of JSON. It is small because all
// check records of a commit are read together.
const maxBrief = 16 << 10

// ForRecord returns the decision d, or nil if d is too long for a check record.
func ForRecord(d *rulings.Ruling) *rulings.Ruling {
	if d == nil || len(pipeline.Encode(d)) > maxBrief {
		return nil
	}
	return d
}

// AroundDigest returns a digest of the parts of a check run that depend on more than the run itself. These are
// the reasons against the apply, the applies ahead in the queue, the projects that are applied first, and the
// lock of the pull request. It returns "" if there are none of them.
func AroundDigest(p comment.ProjectStatus) string {
	if len(p.Blockers) == 0 && len(p.Ahead) == 0 && p.Lock == nil && p.Behind == nil {
		return ""
	}
	all := []any{p.Blockers, p.Ahead, p.Lock}
	if p.Behind != nil {
		all = append(all, p.Behind)
	}
	return HashOf(pipeline.Encode(all))[:16]
}

// Shows reports whether the check run of the record already shows this conclusion, this [AroundDigest], and
// this decision about requirements. all are the records at the same commit.
func (c CheckRecord) Shows(conclusion github.Conclusion, around string, required *rulings.Ruling, all []CheckRecord) bool {
	shown := conclusion
	if w := ShownInstead(c, all); w != nil {
		shown = w.Conclusion
	}
	same := bytes.Equal(pipeline.Encode(c.Required), pipeline.Encode(ForRecord(required)))
	return c.Conclusion == conclusion && c.Shown == shown && c.Around == around && same
}

// Conclude returns the status and the conclusion of the check run for a project with standing s.
func Conclude(s comment.Standing) (github.CheckStatus, github.Conclusion) {
	switch s.Means() {
	case comment.ToCome:
		return github.CheckQueued, ""
	case comment.UnderWay:
		return github.CheckInProgress, ""
	case comment.Well:
		return github.CheckCompleted, github.ConcludedSuccess
	case comment.Wrong, comment.Disallowed:
		return github.CheckCompleted, github.ConcludedFailure
	case comment.Unsettled:
		return github.CheckCompleted, github.ConcludedActionRequired
	case comment.Void:
		return github.CheckCompleted, github.ConcludedCancelled
	}
	panic(fmt.Sprintf("runs: standing %q has no meaning", s))
}

// ConcludeProject is like Conclude, but also considers the requirements for the apply of the project's plan.
// While a requirement is not met, the check does not pass. It fails if a policy or a gate denies the plan.
// Otherwise it waits for a person.
//
// The check of a plan on an issue is neither good nor bad: it is at a commit of the default branch, which has passed its
// own checks.
func ConcludeProject(p comment.ProjectStatus) (github.CheckStatus, github.Conclusion) {
	status, conclusion := Conclude(p.Concluded())
	if p.OnIssue && status == github.CheckCompleted {
		conclusion = github.ConcludedNeutral
	}
	return status, conclusion
}

// worst lists the bad conclusions, the worst one first. All others are good.
var worst = []github.Conclusion{github.ConcludedFailure, github.ConcludedActionRequired}

// CanReplace reports whether another check at the same commit may show this conclusion instead of its own.
// merged is set if that other check belongs to a merged pull request.
func (c CheckRecord) CanReplace(merged bool) bool {
	return merged || slices.Contains(worst, c.Conclusion)
}

// ShownInstead returns the record whose conclusion the check run of own shows, instead of the conclusion of
// own. This is the worst record with the same check at the same commit, if it is worse than own. Otherwise
// ShownInstead returns nil.
//
// People and branch rules see the newest check run of a commit, whichever pull request it belongs to. So a
// merged pull request does not count beside an open one. The check run of a merged pull request shows the
// conclusion of the open ones, good or bad. A check that is not completed has no conclusion and does not count.
//
// A shared check run shows no conclusion of another pull request: its name contains the pull request.
func ShownInstead(own CheckRecord, all []CheckRecord) *CheckRecord {
	if own.Shared {
		return nil
	}
	rank := func(c github.Conclusion) int {
		if i := slices.Index(worst, c); i >= 0 {
			return i
		}
		return len(worst)
	}
	find := func(counts func(CheckRecord) bool, below int) (found *CheckRecord) {
		for i, s := range all {
			if s.Key != own.Key && s.Check == own.Check && counts(s) && rank(s.Conclusion) < below {
				found, below = &all[i], rank(s.Conclusion)
			}
		}
		return found
	}
	open := func(s CheckRecord) bool { return !s.Merged }
	if !own.Merged {
		return find(open, rank(own.Conclusion))
	}
	ended := func(s CheckRecord) bool {
		return open(s) && s.Conclusion != "" && s.Conclusion != github.ConcludedCancelled
	}
	if found := find(ended, len(worst)+1); found != nil {
		return found
	}
	return find(func(CheckRecord) bool { return true }, rank(own.Conclusion))
}

// WithoutCheck reports whether a run has no check run yet. That is possible for one of many runs of a push or a
// command, until the run's plan is made. If such a run is superseded or dropped before that, it never gets a
// check run. A run that had a check run before keeps it.
func (r Run) WithoutCheck() bool {
	switch r.Phase {
	case Queued, Planning, Superseded, Dropped:
		return r.Asked.Quiet
	}
	return false
}

// PlanEnded reports whether the last plan of a run has succeeded or failed, and no apply has followed.
func (r Run) PlanEnded() bool { return r.Phase == Planned || r.Phase == PlanFailed }
