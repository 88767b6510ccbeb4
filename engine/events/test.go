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

// TestStatus is the result of a test run, a file or a suite. The combined result of several is the greatest
// status among them.
type TestStatus byte

const (
	TestPending TestStatus = iota
	TestSkip
	TestPass
	TestFail  // an assertion is false
	TestError // a run failed before its assertions, or something could not be destroyed
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
	TestRunTearingDown // Run is the last run that used the state
	TestLeft           // objects could not be, or were not, destroyed: see Objects
	TestFileDone
)

// A Test is one step of a test.
type Test struct {
	Kind    TestKind
	File    *testfiles.File
	Run     *testfiles.Run
	Status  TestStatus // of TestRunDone and TestFileDone
	Elapsed time.Duration
	// Diagnostics are the diagnostics of the run, the file, or the destruction.
	Diagnostics diags.Diagnostics
	// Objects are the objects that still exist after the test. Only TestLeft has them.
	Objects []addrs.ResourceInstanceObject
	// Config, Plan and State are set only in TestRunDone, and only if the input of the test is Verbose. A run
	// that applies has a State, a run that only plans has a Plan.
	Config *config.Config
	Plan   *plans.Plan
	State  *states.State
}

// A TestFileResult is the result of one test file.
type TestFileResult struct {
	File   *testfiles.File
	Status TestStatus
	Runs   []TestRunResult // in the order of the file's runs
}

// A TestRunResult is the result of one run.
type TestRunResult struct {
	Run         *testfiles.Run
	Status      TestStatus
	Started     time.Time
	Elapsed     time.Duration
	Diagnostics diags.Diagnostics
	Failed      int // number of false assertions
}

// TestAssertionFailed is the summary of the diagnostic for a failed assertion.
const TestAssertionFailed = "Test assertion failed"

// TestOutcome returns the combined status of all files.
func TestOutcome(list []TestFileResult) TestStatus {
	worst := TestPending
	for _, f := range list {
		worst = max(worst, f.Status)
	}
	return worst
}

// Messages returns the messages of the failed assertions.
func (r TestRunResult) Messages() (out []string) {
	for _, d := range r.Diagnostics {
		if d.Summary == TestAssertionFailed {
			out = append(out, d.Detail)
		}
	}
	return out
}

// TestCoverage counts the objects of the tested configuration that the test runs have reached.
type TestCoverage struct {
	Resources TestCovered `json:"resources"` // resources with an instance in a run
	Outputs   TestCovered `json:"outputs"`   // outputs to which an assertion refers
	Checks    TestCovered `json:"checks"`    // objects with conditions that were evaluated in a run
}

// TestCovered counts the objects of one kind.
type TestCovered struct {
	All     int      `json:"all"`
	Missing []string `json:"missing"` // the addresses of those that no run has reached, sorted; never nil
}
