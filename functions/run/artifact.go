package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/project"
)

// artifact names what is kept of the nth plan that was begun.
func (r Run) artifact(n int, name string) Artifact {
	return Artifact{
		Key:  fmt.Sprintf("%d/%d/%s/%d/%s", r.Pull.Repo.ID, r.Pull.Number, r.Target(), n, name),
		Repo: r.Pull.Repo.String(), Number: r.Pull.Number, SHA: r.Head,
	}
}

// Plan is the saved plan.
func (r Run) Plan() Artifact { return r.artifact(r.Begun, "plan") }

// Report is the plan for people, in Markdown, or why there is none.
func (r Run) Report() Artifact { return r.artifact(r.Begun, "report.md") }

// FullReport is all of the plan as text, of a run that has [Run.Full].
func (r Run) FullReport() Artifact { return r.artifact(r.Begun, "full.txt") }

// Result is what an apply had to say, in Markdown.
func (r Run) Result() Artifact { return r.artifact(r.Begun, fmt.Sprintf("result-%d.md", r.Try)) }

func (r Run) inputs() Artifact { return r.artifact(r.Begun, "inputs.json") }

// inputs is what a plan was made from.
type inputs struct {
	Tree project.Tree
	Read []string // see [PlanResult.Read]
}

// loadInputs returns what the plan of a run was made from.
func (t *task) loadInputs(ctx context.Context, r Run) (inputs, error) {
	var in inputs
	data, err := t.Artifacts.Get(ctx, r.inputs())
	if err == nil {
		err = json.Unmarshal(data, &in)
	}
	if err == nil && in.Tree.Hash() != r.Inputs {
		err = fmt.Errorf("the inputs of %s are not those that were planned", r.Project)
	}
	return in, err
}

// text returns an artifact for people, "" if there is none.
func (t *task) text(ctx context.Context, a Artifact) (string, error) {
	data, err := t.Artifacts.Get(ctx, a)
	if errors.Is(err, ErrNoArtifact) {
		return "", nil
	}
	return string(data), err
}

// sweep deletes what is kept of plans up to the nth that was begun, and of their
// applies.
func (t *task) sweep(ctx context.Context, r Run, n int) error {
	for i := r.Swept + 1; i <= n; i++ {
		names := []string{"plan", "report.md", "full.txt", "inputs.json"}
		for try := range r.Try {
			names = append(names, fmt.Sprintf("result-%d.md", try+1))
		}
		for _, name := range names {
			if err := t.Artifacts.Delete(ctx, r.artifact(i, name)); err != nil {
				return err
			}
		}
	}
	return nil
}
