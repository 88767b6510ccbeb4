package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// Inputs is what a plan was made from.
type Inputs struct {
	Tree project.Tree
	Read []string // see [PlanResult.Read]
	// Whole says that programs could run: the whole checkout is in Tree.
	Whole bool `json:",omitempty"`
}

// Scope is what of a checkout these inputs were taken from.
func (in Inputs) Scope() jobs.Scope { return jobs.Scope{Read: in.Read, Whole: in.Whole} }

// ErrExchanged says that what is kept is not what was put there.
var ErrExchanged = errors.New("it was exchanged")

// LoadInputs returns what the plan of a run was made from.
func LoadInputs(ctx context.Context, from pipeline.Artifacts, r runs.Run) (Inputs, error) {
	var in Inputs
	data, err := from.Get(ctx, r.InputsOf())
	if err == nil {
		err = json.Unmarshal(data, &in)
	}
	if err == nil && in.Tree.Hash() != r.Inputs {
		err = fmt.Errorf("%w: the inputs of %s are not those that were planned", ErrExchanged, r.Project)
	}
	return in, err
}

// Text returns an artifact for people, "" if there is none.
func Text(ctx context.Context, from pipeline.Artifacts, a pipeline.Artifact) (string, error) {
	data, err := from.Get(ctx, a)
	if errors.Is(err, pipeline.ErrNoArtifact) {
		return "", nil
	}
	return string(data), err
}

// Sweep deletes what is kept of plans up to the nth that was begun, and of their
// applies, but for what is still to be told.
func Sweep(ctx context.Context, from pipeline.Artifacts, r runs.Run, n int, but ...pipeline.Artifact) error {
	for i := r.Swept + 1; i <= n; i++ {
		for _, a := range r.Kept(i) {
			if slices.Contains(but, a) {
				continue
			}
			if err := from.Delete(ctx, a); err != nil {
				return err
			}
		}
	}
	return nil
}
