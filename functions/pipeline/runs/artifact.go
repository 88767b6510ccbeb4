package runs

import (
	"crypto/sha256"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// artifact names an artifact of the run's nth plan.
func (r Run) artifact(n int, name string) pipeline.Artifact {
	return pipeline.Artifact{
		Key:  fmt.Sprintf("%d/%d/%s/%d/%s", r.Pull.Repo.ID, r.Pull.Number, r.Target(), n, name),
		Repo: r.Pull.Repo.String(), Number: r.Pull.Number, SHA: r.Spec.Head,
	}
}

// SavedPlan names the artifact with the saved plan.
func (r Run) SavedPlan() pipeline.Artifact { return r.artifact(r.Artifacts.Begun, "plan") }

// AppliedPlan names the artifact with the saved plan that is applied. It is [Run.SavedPlan], or the new plan
// that has replaced that plan.
func (r Run) AppliedPlan() pipeline.Artifact {
	if r.Plan.Again != "" {
		return r.artifact(r.Artifacts.Begun, "again")
	}
	return r.SavedPlan()
}

// Report names the artifact with the plan for people, or with the reason for its failure, in Markdown.
func (r Run) Report() pipeline.Artifact { return r.artifact(r.Artifacts.Begun, "report.md") }

// FullReport names the artifact with the whole plan, or with all its errors, as text. It exists for a run with
// [Plan.Full].
func (r Run) FullReport() pipeline.Artifact { return r.artifact(r.Artifacts.Begun, "full.txt") }

// Result names the artifact with the result of an apply for people, in Markdown.
func (r Run) Result() pipeline.Artifact {
	return r.artifact(r.Artifacts.Begun, fmt.Sprintf("result-%d.md", r.Asked.Try))
}

// FullResult names the artifact with the whole result of an apply as text. It exists if [Run.Result] is
// shortened.
func (r Run) FullResult() pipeline.Artifact {
	return r.artifact(r.Artifacts.Begun, fmt.Sprintf("result-%d.txt", r.Asked.Try))
}

// Contents names the artifact with the contents of the state after the last apply of the project in the pull request: see
// [jobs.Outcome]. It belongs to no plan, so later plans leave it.
func (r Run) Contents() pipeline.Artifact { return r.artifact(0, "result-state.md") }

// InputsRecord names the artifact that records the plan's input files.
func (r Run) InputsRecord() pipeline.Artifact { return r.artifact(r.Artifacts.Begun, "inputs.json") }

// NotesArtifact names the artifact with the texts beside lines of the head commit, as JSON. It exists if there are
// any.
func (r Run) NotesArtifact() pipeline.Artifact { return r.artifact(r.Artifacts.Begun, "notes.json") }

// StepsArtifact names the artifact with the outcomes of the plan's steps, as JSON: a list of comment.Step. It exists for a
// run with [Plan.Steps].
func (r Run) StepsArtifact() pipeline.Artifact { return r.artifact(r.Artifacts.Begun, "steps.json") }

// StepOutputs names the artifact with the outputs of the plan's steps, as text. It exists for a run with
// [Plan.StepOutputs].
func (r Run) StepOutputs() pipeline.Artifact { return r.artifact(r.Artifacts.Begun, "steps.txt") }

// ApplyStepOutputs names the artifact with the outputs of the steps before and after an apply, as text. It exists only if
// these steps have written something; then [Artifacts.Steps] is set.
func (r Run) ApplyStepOutputs() pipeline.Artifact {
	return r.artifact(r.Artifacts.Begun, fmt.Sprintf("steps-%d.txt", r.Asked.Try))
}

// FindingsArtifact names the artifact with all findings of the plan's steps, as JSON. It exists for a run with
// [Plan.Findings].
func (r Run) FindingsArtifact() pipeline.Artifact {
	return r.artifact(r.Artifacts.Begun, "findings.json")
}

// ConfigArtifact names the artifact with the configuration that the plan's steps have generated, as JSON. It exists for a
// run with [Plan.Generated].
func (r Run) ConfigArtifact() pipeline.Artifact {
	return r.artifact(r.Artifacts.Begun, "generated.json")
}

// BaseFindings names the artifact with the findings of the run's project on a branch: those of the last pull request
// that was merged into it.
func (r Run) BaseFindings(branch string) pipeline.Artifact { return r.ofBranch("findings", branch) }

// BaseConfig names the artifact with the generated configuration of the run's project on a branch: that of the last pull
// request that was merged into it.
func (r Run) BaseConfig(branch string) pipeline.Artifact { return r.ofBranch("generated", branch) }

func (r Run) ofBranch(name, branch string) pipeline.Artifact {
	sum := sha256.Sum256([]byte(branch))
	r.Pull.Number, r.Spec.Head = 0, ""
	return r.artifact(0, fmt.Sprintf("%s-%x.json", name, sum[:8]))
}

// OutputsArtifact names the artifact with the outputs that the state will have once the run's plan is applied.
// Plans of other projects use them.
func OutputsArtifact(r Run) pipeline.Artifact { return r.artifact(r.Artifacts.Begun, "outputs") }

// AllArtifacts returns all artifacts that the run's nth plan may have. Those of steps are left out if the present plan has
// none: few repositories have steps, and each name costs a request.
func (r Run) AllArtifacts(n int) []pipeline.Artifact {
	out := []pipeline.Artifact{r.artifact(n, "plan"), r.artifact(n, "report.md"), r.artifact(n, "full.txt"), r.artifact(n, "inputs.json"), r.artifact(n, "again"), r.artifact(n, "outputs"), r.artifact(n, "notes.json")}
	if r.Plan.Steps != "" {
		out = append(out, r.artifact(n, "steps.json"), r.artifact(n, "steps.txt"))
	}
	if r.Plan.Findings {
		out = append(out, r.artifact(n, "findings.json"))
	}
	if r.Plan.Generated {
		out = append(out, r.artifact(n, "generated.json"))
	}
	for try := range r.Asked.Try {
		out = append(out, r.artifact(n, fmt.Sprintf("result-%d.md", try+1)), r.artifact(n, fmt.Sprintf("result-%d.txt", try+1)))
		if r.Artifacts.Steps {
			out = append(out, r.artifact(n, fmt.Sprintf("steps-%d.txt", try+1)))
		}
	}
	return out
}
