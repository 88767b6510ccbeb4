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

// A CheckRecord is the check of one run at its head. All records with the same check at the same
// commit, of any pull request, are read together, because GitHub shows a commit's check on each of
// them.
type CheckRecord struct {
	Pull  pipeline.Pull
	Key   string // of the run
	Check string // its name
	// Merged is set once the pull request is: then an open one with the commit as its head has nothing to do with this check.
	Merged bool  `json:",omitempty"`
	ID     int64 // of the check run, 0 if it is not known yet
	// Asked is set before GitHub is first asked for it: there may be one whose ID is not known.
	Asked bool `json:",omitempty"`
	// Twins is how often two processes have made a check run of it at the same time, or may have written to an older one since.
	// Looked is that number as it was before somebody has looked for the older ones last, and ended them.
	Twins  int `json:",omitempty"`
	Looked int `json:",omitempty"`
	Status github.CheckStatus
	// Conclusion is that of this run alone, Shown the one in its check run. Around is the [Around] that the check run tells. Both
	// of the latter are recorded once it is written.
	Conclusion, Shown github.Conclusion
	Around            string `json:",omitempty"`
	// Required is the decision about the requirements for the apply that the check run tells, recorded once it is written; nil if
	// there are none, or it is too long: see [Brief].
	Required *rulings.Ruling `json:",omitempty"`
	// Behind is what comes before the apply, as the check run tells it, recorded likewise.
	Behind *comment.Behind `json:",omitempty"`
}

// CheckDir is the collection of the checks of a run's project and workspace at its commit: one for each pull request with
// that head. Those of other projects are not read with it, of which a commit can have thousands.
func CheckDir(r Run) string {
	return fmt.Sprintf("sha/%d/%s/%s", r.Pull.Repo.ID, r.Spec.Head, r.Target())
}

// CheckKey is the key of the [CheckRecord] of a run.
func CheckKey(r Run) string { return fmt.Sprintf("%s/%d", CheckDir(r), r.Pull.Number) }

// DecodeCheck reads the value of a record; nil is that of none.
func DecodeCheck(value []byte) (c CheckRecord, err error) {
	if value == nil {
		return c, nil
	}
	if err := json.Unmarshal(value, &c); err != nil {
		return c, fmt.Errorf("read a check: the record is damaged: %w", err)
	}
	return c, nil
}

// Twinned reports whether there may be older check runs of it that nobody has ended: who writes it looks for them.
func (c CheckRecord) Twinned() bool { return c.Twins > c.Looked }

// Written returns the record after a process has written the check run as w has it: its ID, Status, Conclusion, and all that it
// tells. own is the record as the process has read it before. changed is false if the record is as it was, or gone. again is set
// if the process has to write once more: another one has made a check run at the same time, of which people see the newest, or has
// come to another status or conclusion meanwhile, which this one has written over.
func (c CheckRecord) Written(own, w CheckRecord) (out CheckRecord, changed, again bool) {
	switch {
	case c.Key == "":
		return c, false, false
	case c.ID != 0 && c.ID != w.ID && c.ID != own.ID, c.Twins > own.Twins: // in the latter, this one may have written the older
		c.Twins++
		return c, true, true
	case c.Status != w.Status || c.Conclusion != w.Conclusion || c.Shown != own.Shown:
		c.ID, c.Shown = w.ID, "" // whichever GitHub heard last
		return c, true, true
	case c.ID == w.ID && c.Shown == w.Shown && c.Around == w.Around && !c.Twinned():
		return c, false, false
	}
	c.Looked = c.Twins // if there were any, this process has looked for them: it has read the same number
	c.ID, c.Shown, c.Around, c.Required, c.Behind = w.ID, w.Shown, w.Around, w.Required, w.Behind
	return c, true, false
}

// maxBrief is the maximum length of a decision in a check record, in bytes of JSON: those of a commit are read together.
const maxBrief = 16 << 10

// Brief returns a decision, or nil if it is too long for a check record.
func Brief(d *rulings.Ruling) *rulings.Ruling {
	if d == nil || len(pipeline.Encode(d)) > maxBrief {
		return nil
	}
	return d
}

// Around returns a digest of what a check run tells that others change: the obstacles to the apply, with their reasons, the applies
// ahead in the queue, the projects that are applied before, and the lock of the pull request; "" if there is none of them.
func Around(p comment.ProjectStatus) string {
	if len(p.Blockers) == 0 && len(p.Ahead) == 0 && p.Lock == nil && p.Behind == nil {
		return ""
	}
	all := []any{p.Blockers, p.Ahead, p.Lock}
	if p.Behind != nil {
		all = append(all, p.Behind)
	}
	return HashOf(pipeline.Encode(all))[:16]
}

// Tells reports whether the check run of a record tells a conclusion, the [Around] of its status, and a decision about the
// requirements. all are the records at the same commit.
func (c CheckRecord) Tells(conclusion github.Conclusion, around string, required *rulings.Ruling, all []CheckRecord) bool {
	shown := conclusion
	if w := Instead(c, all); w != nil {
		shown = w.Conclusion
	}
	same := bytes.Equal(pipeline.Encode(c.Required), pipeline.Encode(Brief(required)))
	return c.Conclusion == conclusion && c.Shown == shown && c.Around == around && same
}

// Conclude returns the status and the conclusion of a check.
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

// ConcludeProject is Conclude for a project. While a requirement for the apply of its plan is not fulfilled, the check does not pass: it
// fails if a policy or a gate said no, and waits for a person otherwise.
func ConcludeProject(p comment.ProjectStatus) (github.CheckStatus, github.Conclusion) {
	return Conclude(p.Concluded())
}

// worst are the conclusions from the worst on; those that are not listed are good.
var worst = []github.Conclusion{github.ConcludedFailure, github.ConcludedActionRequired}

// Counts reports whether the check can be shown in the place of another one at its commit, that of a merged pull request or of an
// open one.
func (c CheckRecord) Counts(merged bool) bool { return merged || slices.Contains(worst, c.Conclusion) }

// Instead returns the record whose conclusion the check run of own has in the place of its own, nil if there is none: of those with
// the same check at the same commit it is the worst, if that is worse. Those of merged pull requests do not count beside one that
// is open, and the check run of a merged one has the conclusion of the open ones, good or bad: people and rules see the newest check run, whose
// ever that is. Checks that are not completed have no conclusion and do not count.
func Instead(own CheckRecord, all []CheckRecord) *CheckRecord {
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

// Silent reports whether a run has no check run yet, unless it had one before: it is one of many, and its
// plan is not made. One that nobody wants any more gets none.
func (r Run) Silent() bool {
	switch r.Phase {
	case Queued, Planning, Superseded, Dropped:
		return r.Asked.Quiet
	}
	return false
}

// Made reports whether a run has come to the end of its plan, and was not applied since.
func (r Run) Made() bool { return r.Phase == Planned || r.Phase == PlanFailed }
