package planrun

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/integrations"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/steps"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
)

// A PlanStore stores plans: their artifacts, and their results in the records of runs.
type PlanStore struct {
	Report    *report.Reporter
	Ledger    ledger.Ledger
	Artifacts pipeline.Artifacts
	Projects  jobs.Projects
	Hooks     integrations.Hooks // for [PlanStore.Replace]
	Steps     steps.Runner       // for the same
}

// A Replacement is a new plan that replaces the outdated plan of a run. Since are the reasons, if they are
// known. Begun is the number of the new plan.
type Replacement struct {
	Again jobs.Replanned
	Since reasons.List
	Begun int
	// Job is the job for which the plan was made, in a checkout that still exists. Inputs are the inputs in
	// that checkout, read before the plan was made.
	Job    jobs.Job
	Inputs ledger.Inputs
}

// Replace calls the hooks after a plan, stores the plan, and returns the run with it. The caller must save the
// run: until then, no record has the plan. The next plan deletes the artifacts of the former one.
func (k PlanStore) Replace(ctx context.Context, s ledger.Versioned, x Replacement) (ledger.Versioned, error) {
	s.Artifacts.Begun, s.Plan.Replaced = x.Begun, x.Begun
	in := x.Inputs
	in.Read = x.Again.Plan.Read
	if whole := x.Job.Grants.Programs(); !in.Whole || !whole {
		in.Whole = whole
		if err := k.inputs(ctx, x.Job.Checkout, s.Run, &in); err != nil {
			return s, err
		}
	}
	ran, err := k.Steps.Again(ctx, s.Run, x.Job)
	if err != nil {
		return s, err
	}
	result, err := k.Steps.After(ctx, s.Run, x.Job, ran, x.Again.Plan)
	if err != nil {
		return s, err
	}
	after, err := k.Hooks.Run(ctx, jobs.HookCall{Event: endpoints.AfterPlan, Run: s.Run, Again: true, Counts: result.Counts, State: result.State})
	if err != nil {
		return s, err
	}
	note := comment.Replacement{Since: x.Since, Difference: x.Again.Difference, Equal: x.Again.Equal}
	result.Report = reasons.Hooks(after) + note.Above(result.Report)
	return k.store(ctx, s, result, in, x.Job.Foreseen)
}

// inputs reads the inputs of a plan in a checkout.
func (k PlanStore) inputs(ctx context.Context, dir string, r runs.Run, in *ledger.Inputs) (err error) {
	in.Tree, in.Own, err = ReadInputs(ctx, k.Projects, dir, r, in.Scope())
	return err
}

// ReadInputs reads the files in a checkout on which a plan depends. all are all of these files, and own those
// that belong to the configuration itself. If own is nil, all of them do.
func ReadInputs(ctx context.Context, from jobs.Projects, dir string, r runs.Run, s jobs.Scope) (all, own project.Tree, err error) {
	if all, err = from.Inputs(ctx, dir, r, s); err != nil || !s.Whole {
		return all, nil, err
	}
	own, err = from.Inputs(ctx, dir, r, jobs.Scope{})
	return all, own, err
}

// store stores the artifacts of a plan, which may have failed, and returns the run with the results. foreseen
// are the projects whose planned outputs the plan could read.
func (k PlanStore) store(ctx context.Context, s ledger.Versioned, result jobs.PlanResult, in ledger.Inputs, foreseen []jobs.PlannedOutputs) (ledger.Versioned, error) {
	put := func(a pipeline.Artifact, data []byte) error {
		if len(data) == 0 {
			return nil
		}
		return k.Artifacts.Put(ctx, a, data)
	}
	var steps []byte
	if len(result.Steps) > 0 {
		steps = pipeline.Encode(result.Steps)
	}
	on, note := jobs.PlannedOn(foreseen, result.Asked)
	text := []byte(k.Report.Clean(note.Above(result.Report)))
	if err := errors.Join(put(s.SavedPlan(), result.Plan), put(s.Report(), text),
		put(s.FullReport(), []byte(k.Report.Clean(result.Full))), put(s.InputsRecord(), pipeline.Encode(in)), put(s.NotesArtifact(), report.EncodeNotes(k.Report, result.Notes)), put(runs.OutputsArtifact(s.Run), result.Outputs), put(s.StepsArtifact(), steps), put(s.StepOutputs(), result.StepOutputs), put(s.FindingsArtifact(), result.Findings), put(s.ConfigArtifact(), result.Generated)); err != nil {
		return s, err
	}
	s.Plan.Full, s.Plan.StepOutputs, s.Plan.Findings, s.Plan.Generated, s.Plan.Steps = result.Full != "", result.StepOutputs != nil, result.Findings != nil, result.Generated != nil, ""
	if steps != nil {
		s.Plan.Steps = runs.HashOf(steps)
	}
	if result.Previewed { // nothing of it can be applied or checked
		s.Plan.State, s.Plan.Counts = result.State, result.Counts
		s.Plan.Reported, s.Plan.Checked, s.Apply.Part, s.Apply.Progress = runs.HashOf(text), nil, false, comment.Progress{}
	}
	if result.Plan == nil && s.Plan.Failure == nil {
		return s, nil
	}
	if err := k.Ledger.ListPlan(ctx, s.Run, k.Report.Facts.Pull.Author); err != nil || result.Plan == nil {
		return s, err
	}
	parts := result.Parts
	parts.State, parts.Inputs, parts.Saved = result.State, in.Hash(), runs.HashOf(result.Plan)
	parts.Options, parts.PlannedOn, parts.Outputs = s.Spec.Options.Words(), on, ""
	if len(result.Outputs) > 0 {
		parts.Outputs = runs.HashOf(result.Outputs)
	}
	s.Plan.State, s.Plan.Inputs, s.Plan.Counts, s.Plan.Applyable, s.Plan.Doubts = parts.State, parts.Inputs, result.Counts, result.Applyable, result.Doubts
	s.Plan.Content, s.Plan.Judged, s.Apply.Lifted = result.Content, nil, nil
	s.Plan.Hash, s.Plan.Parts, s.Plan.Reported = parts.Hash(), &parts, runs.HashOf(text)
	s.Plan.Again, s.Plan.Settled, s.Plan.Checked, s.Apply.Part, s.Apply.Progress = "", nil, nil, false, comment.Progress{}
	s.Run = s.SealPlan(k.Report.Facts.Hub.Seal)
	return s, nil
}
