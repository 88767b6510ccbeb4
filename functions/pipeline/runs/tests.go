package runs

import (
	"encoding/json"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// A TestRecord is the record of the tests of one run's project at its head, and of their check run.
type TestRecord struct {
	Pull pipeline.Pull
	Key  string // of the run
	Dir  string // of the project
	// Attempt is the run's Asked.Attempt for which the tests run.
	Attempt int
	// Result is the result of the tests; nil while the tests run. Ended is set if nobody waits for the result.
	Result *comment.Tests `json:",omitempty"`
	Ended  bool           `json:",omitempty"`
	// ID is the ID of the check run, 0 if it is not known. Shown is a digest of what the check run shows.
	ID    int64  `json:",omitempty"`
	Shown string `json:",omitempty"`
}

// TestDir returns the directory of the test records of a run's project and workspace at its commit: one record
// for each pull request with that head.
func TestDir(r Run) string {
	return fmt.Sprintf("tests/%d/%s/%s", r.Pull.Repo.ID, r.Spec.Head, r.Target())
}

// TestKey returns the key of the [TestRecord] of a run.
func TestKey(r Run) string { return fmt.Sprintf("%s/%d", TestDir(r), r.Pull.Number) }

// DecodeTests decodes the value of a record. nil is the value of an absent record.
func DecodeTests(value []byte) (t TestRecord, err error) {
	if value == nil {
		return t, nil
	}
	if err := json.Unmarshal(value, &t); err != nil {
		return t, fmt.Errorf("read the tests of a project: the record is damaged: %w", err)
	}
	return t, nil
}

// TestCheck returns the name of the check run for the tests of a run's project: "lockstep/test: network".
func (r Run) TestCheck() string {
	name := r.Project
	if r.Workspace != project.DefaultWorkspace {
		name += "@" + r.Workspace
	}
	return pipeline.TestCheckOf(r.Spec.Deployment, name)
}

// Conclude returns the status and the conclusion of the check run. failed is set if the tests of another pull
// request with the same head failed.
func (t TestRecord) Conclude(failed bool) (github.CheckStatus, github.Conclusion) {
	switch {
	case t.Ended:
		return github.CheckCompleted, github.ConcludedCancelled
	case t.Result == nil:
		return github.CheckInProgress, ""
	case failed || !t.Result.Passed():
		return github.CheckCompleted, github.ConcludedFailure
	case t.Result.None():
		return github.CheckCompleted, github.ConcludedNeutral
	}
	return github.CheckCompleted, github.ConcludedSuccess
}

// Failed reports whether the tests failed.
func (t TestRecord) Failed() bool { return !t.Ended && t.Result != nil && !t.Result.Passed() }

// PlanMessages returns the messages for the plan of a queued run, and for the tests that run with it.
func (r Run) PlanMessages() []pipeline.Message {
	m := pipeline.Message{Kind: pipeline.ToPlan, Head: r.Spec.Head, Target: r.Target(), Attempt: r.Asked.Attempt, Actor: r.Asked.By, Answer: r.Asked.Answer}
	if test, ok := r.TestMessage(); ok {
		return []pipeline.Message{m, test}
	}
	return []pipeline.Message{m}
}

// TestMessage returns the message for the tests of a run. ok is false if its project has none.
func (r Run) TestMessage() (m pipeline.Message, ok bool) {
	if !r.Spec.Test || r.Phase == Superseded || r.Phase == Dropped {
		return m, false
	}
	return pipeline.Message{Kind: pipeline.ToTest, Head: r.Spec.Head, Target: r.Target(), Attempt: r.Asked.Attempt, Actor: r.Asked.By}, true
}
