package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// A Step is a step block of the base branch, together with its files there.
type Step struct {
	requirements.Step
	// Base are the files by their paths in the repository. Problem is the reason if they could not be read; the step
	// then does not run.
	Base    map[string][]byte `json:",omitempty"`
	Problem string            `json:",omitempty"`
}

// ID returns a digest of everything that affects the step's result, besides the checkout. A result with a different ID
// is that of another step.
func (s Step) ID() string {
	data, err := json.Marshal(s) // with sorted keys
	if err != nil {
		panic(err) // texts and bytes can always be encoded
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// A StepRun is one run of a step in the checkout of a job.
type StepRun struct {
	Step
	Job Job
	// BaseSHA is the commit of the base branch from which the step comes.
	BaseSHA string
	// Plan is the plan as JSON without sensitive values; nil before the plan.
	Plan []byte `json:",omitempty"`
}

// A StepResult is the result of running a step.
type StepResult struct {
	Name     string
	On       requirements.Moment
	ID       string // see [Step.ID]
	Required bool   `json:",omitempty"`
	// Outcome says how the program ended. Problem is the reason why it has no exit code: a phrase in plain text, such
	// as "the program did not end within its time limit of 1m0s".
	Outcome comment.StepOutcome
	Problem string `json:",omitempty"`
	Exit    int    `json:",omitempty"`
	Took    time.Duration
	// Wrote are the files of the checkout that a step on "generate" has made, changed or removed: slash-separated paths
	// from its root, sorted.
	Wrote []string `json:",omitempty"`
	// Output is what the program wrote to its standard output, and Errors what it wrote to its standard error. Total
	// is how many bytes it wrote to its standard output; it is larger than Output if the rest was dropped.
	Output, Errors []byte `json:",omitempty"`
	Total          int64  `json:",omitempty"`
	// Redact removes the secrets that the program could know from a text; nil for none. Output and Errors have these
	// secrets: pass each text of them through Redact before somebody sees it, or before it is kept. Redact takes seconds
	// and much memory for a text of many megabytes.
	Redact func(string) string `json:"-"`
}

// Succeeded reports whether the program ran and ended with exit code 0.
func (r StepResult) Succeeded() bool { return r.Outcome == comment.StepPassed }

// Failure says in a few words how the step has failed; "" if it has succeeded.
func (r StepResult) Failure() string {
	switch {
	case r.Succeeded():
		return ""
	case r.Outcome == comment.StepFailed:
		return fmt.Sprintf("the program ended with exit code %d", r.Exit)
	}
	return r.Problem
}

// A StepFunc runs a step. An error is a failure that may pass, such as that of a network. Everything else is part of
// the result.
type StepFunc func(context.Context, StepRun) (StepResult, error)
