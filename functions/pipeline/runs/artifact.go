package runs

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// artifact names an artifact of the nth plan begun.
func (r Run) artifact(n int, name string) pipeline.Artifact {
	return pipeline.Artifact{
		Key:  fmt.Sprintf("%d/%d/%s/%d/%s", r.Pull.Repo.ID, r.Pull.Number, r.Target(), n, name),
		Repo: r.Pull.Repo.String(), Number: r.Pull.Number, SHA: r.Spec.Head,
	}
}

// SavedPlan is the saved plan.
func (r Run) SavedPlan() pipeline.Artifact { return r.artifact(r.Artifacts.Begun, "plan") }

// Applied is the saved plan that is applied: [Run.SavedPlan], or the one that was made again in its place.
func (r Run) Applied() pipeline.Artifact {
	if r.Plan.Again != "" {
		return r.artifact(r.Artifacts.Begun, "again")
	}
	return r.SavedPlan()
}

// Report is the plan for people, or the reason for its failure, in Markdown.
func (r Run) Report() pipeline.Artifact { return r.artifact(r.Artifacts.Begun, "report.md") }

// FullReport is all of the plan, or of its errors, as text, of a run that has [Plan.Full].
func (r Run) FullReport() pipeline.Artifact { return r.artifact(r.Artifacts.Begun, "full.txt") }

// Result is the outcome of an apply for people, in Markdown.
func (r Run) Result() pipeline.Artifact {
	return r.artifact(r.Artifacts.Begun, fmt.Sprintf("result-%d.md", r.Asked.Try))
}

// FullResult is all of the outcome of an apply as text, where [Run.Result] is shortened.
func (r Run) FullResult() pipeline.Artifact {
	return r.artifact(r.Artifacts.Begun, fmt.Sprintf("result-%d.txt", r.Asked.Try))
}

// InputsOf is the record of the plan's inputs.
func (r Run) InputsOf() pipeline.Artifact { return r.artifact(r.Artifacts.Begun, "inputs.json") }

// OutputsOf are those that the state of a run will have, for the plans of others.
func OutputsOf(r Run) pipeline.Artifact { return r.artifact(r.Artifacts.Begun, "outputs") }

// Kept returns all artifacts of the nth plan that was begun.
func (r Run) Kept(n int) []pipeline.Artifact {
	out := []pipeline.Artifact{r.artifact(n, "plan"), r.artifact(n, "report.md"), r.artifact(n, "full.txt"), r.artifact(n, "inputs.json"), r.artifact(n, "again"), r.artifact(n, "outputs")}
	for try := range r.Asked.Try {
		out = append(out, r.artifact(n, fmt.Sprintf("result-%d.md", try+1)), r.artifact(n, fmt.Sprintf("result-%d.txt", try+1)))
	}
	return out
}
