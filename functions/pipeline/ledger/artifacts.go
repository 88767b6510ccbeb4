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

// Inputs are the inputs of a plan.
type Inputs struct {
	Tree project.Tree
	Read []string // see [PlanResult.Read]
	// Whole is set if programs could run, so that Tree is the whole checkout.
	Whole bool `json:",omitempty"`
}

// Scope is the part of a checkout that these inputs were taken from.
func (in Inputs) Scope() jobs.Scope { return jobs.Scope{Read: in.Read, Whole: in.Whole} }

// ErrExchanged is the finding of an artifact that is not the one that was stored.
var ErrExchanged = errors.New("it was exchanged")

// LoadInputs returns the inputs of a run's plan.
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

// Sweep deletes the artifacts of the first n plans begun, and of their applies, but those that are
// still needed.
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
