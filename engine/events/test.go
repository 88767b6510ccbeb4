package events

import (
	"time"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// TestStatus is the outcome of a run, a file or a suite. The outcome of several is the greatest.
type TestStatus byte

const (
	TestPending TestStatus = iota
	TestSkip
	TestPass
	TestFail  // an assertion does not hold
	TestError // a run could not come to its assertions, or something could not be destroyed
)

// String returns Terraform's word for the status.
func (s TestStatus) String() string {
	return [...]string{"pending", "skip", "pass", "fail", "error"}[s]
}

// TestKind is the kind of a step in a run of the test command.
type TestKind byte

const (
	TestFileStarted TestKind = iota + 1
	TestRunStarted
	TestRunDone
	TestFileTearingDown
	TestRunTearingDown // Run is the last one that worked on the state
	TestLeft           // something could not be destroyed, or was not: see Objects
	TestFileDone
)

// A Test is one step of a test.
type Test struct {
	Kind    TestKind
	File    *testfiles.File
	Run     *testfiles.Run
	Status  TestStatus // of TestRunDone and TestFileDone
	Elapsed time.Duration
	// Diagnostics are about the run, the file, or the destruction.
	Diagnostics diags.Diagnostics
	// Objects exist after the test, for TestLeft.
	Objects []addrs.ResourceInstanceObject
	// Config, Plan and State are there for TestRunDone if the input is Verbose: State after an apply, Plan after a plan.
	Config *config.Config
	Plan   *plans.Plan
	State  *states.State
}

// A TestFileResult is the outcome of one file.
type TestFileResult struct {
	File   *testfiles.File
	Status TestStatus
	Runs   []TestRunResult // as those of the file
}

// A TestRunResult is the outcome of one run.
type TestRunResult struct {
	Run         *testfiles.Run
	Status      TestStatus
	Started     time.Time
	Elapsed     time.Duration
	Diagnostics diags.Diagnostics
	Failed      int // assertions that do not hold
}

// TestAssertionFailed is the headline of an assertion that does not hold.
const TestAssertionFailed = "Test assertion failed"

// TestOutcome returns the status of all files together.
func TestOutcome(list []TestFileResult) TestStatus {
	worst := TestPending
	for _, f := range list {
		worst = max(worst, f.Status)
	}
	return worst
}

// Messages returns the messages of the assertions that do not hold.
func (r TestRunResult) Messages() (out []string) {
	for _, d := range r.Diagnostics {
		if d.Summary == TestAssertionFailed {
			out = append(out, d.Detail)
		}
	}
	return out
}

// TestCoverage tells which objects of the configuration under test its runs have reached.
type TestCoverage struct {
	Resources TestCovered `json:"resources"` // with an instance in a run
	Outputs   TestCovered `json:"outputs"`   // that an assertion refers to
	Checks    TestCovered `json:"checks"`    // objects with conditions that were evaluated in a run
}

// TestCovered are the objects of one kind.
type TestCovered struct {
	All     int      `json:"all"`
	Missing []string `json:"missing"` // the addresses of those that no run has reached, sorted; never nil
}
