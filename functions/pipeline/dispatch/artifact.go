package dispatch

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

// inputs is what a plan was made from.
type inputs struct {
	Tree project.Tree
	Read []string // see [PlanResult.Read]
	// Whole says that programs could run: the whole checkout is in Tree.
	Whole bool `json:",omitempty"`
}

func (in inputs) scope() jobs.Scope { return jobs.Scope{Read: in.Read, Whole: in.Whole} }

// errExchanged says that what is kept is not what was put there.
var errExchanged = errors.New("it was exchanged")

// loadInputs returns what the plan of a run was made from.
func (t *task) loadInputs(ctx context.Context, r runs.Run) (inputs, error) {
	var in inputs
	data, err := t.Artifacts.Get(ctx, r.InputsOf())
	if err == nil {
		err = json.Unmarshal(data, &in)
	}
	if err == nil && in.Tree.Hash() != r.Inputs {
		err = fmt.Errorf("%w: the inputs of %s are not those that were planned", errExchanged, r.Project)
	}
	return in, err
}

// text returns an artifact for people, "" if there is none.
func (t *task) text(ctx context.Context, a pipeline.Artifact) (string, error) {
	data, err := t.Artifacts.Get(ctx, a)
	if errors.Is(err, pipeline.ErrNoArtifact) {
		return "", nil
	}
	return string(data), err
}

// sweep deletes what is kept of plans up to the nth that was begun, and of their
// applies, but for what is still to be told.
func (t *task) sweep(ctx context.Context, r runs.Run, n int, but ...pipeline.Artifact) error {
	for i := r.Swept + 1; i <= n; i++ {
		for _, a := range r.Kept(i) {
			if slices.Contains(but, a) {
				continue
			}
			if err := t.Artifacts.Delete(ctx, a); err != nil {
				return err
			}
		}
	}
	return nil
}
