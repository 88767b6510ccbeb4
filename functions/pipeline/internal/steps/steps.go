// Package steps runs the step blocks of lockstep.hcl: programs of the base branch in the checkouts of plans and applies.
//
//	generate                   writes files into each checkout; a failure ends the work in it
//	before_plan, after_plan    their results are part of the plan, and required ones decide about applies
//	before_apply               a failure of a required one refuses the apply
//	after_apply                its result is shown
//
// The package does not know how a program is confined (package subprocess), and decides nothing about applies (package
// requirementrules). Start reading at [Runner.At].
package steps

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// A Runner runs the steps of a pull request's runs.
type Runner struct {
	Facts *gatefacts.Reader
	// Run runs one step. If it is nil, no step can run, and each counts as failed.
	Run jobs.StepFunc
}

// At runs the steps of a run for a moment, one after another, in the checkout of the job. plan is the plan as JSON
// without sensitive values; nil before the plan.
func (x Runner) At(ctx context.Context, on requirements.Moment, r runs.Run, j jobs.Job, plan []byte) (out Results, err error) {
	all, sha, err := gatefacts.Steps(ctx, x.Facts, on, r)
	if err != nil {
		return nil, fmt.Errorf("read the steps of %s: %w", r.Project, err)
	}
	for _, s := range all {
		if x.Run == nil {
			out = append(out, jobs.StepResult{Name: s.Name, On: s.On, ID: s.ID(), Required: s.Required, Problem: "steps cannot run here"})
			continue
		}
		got, err := x.Run(ctx, jobs.StepRun{Step: s, Job: j, BaseSHA: sha, Plan: plan})
		if err != nil {
			return nil, err
		}
		out = append(out, got)
		if on == requirements.Generate && !got.Succeeded() {
			break // the next one may need its files
		}
	}
	return out, nil
}

// After runs the steps after a plan that was made in the checkout of the job, and returns the plan's result with the
// results of its steps. before are the results of the steps before the plan. A failed plan has no steps after it.
func (x Runner) After(ctx context.Context, r runs.Run, j jobs.Job, before Results, plan jobs.PlanResult) (jobs.PlanResult, error) {
	all := before
	if plan.Plan != nil {
		after, err := x.At(ctx, requirements.AfterPlan, r, j, plan.JSON)
		if err != nil {
			return plan, err
		}
		all = slices.Concat(all, after)
	}
	plan.JSON = nil
	if plan.Content != nil {
		plan.Content.Steps = all.Judgements()
	}
	plan.Report = all.Markdown() + plan.Report
	return plan, nil
}

// Generate runs the steps that write files into the checkout dir of a run's commit. The project cannot be used there if
// one of them fails: no is the failure, and again the command that runs them once more.
func (x Runner) Generate(ctx context.Context, r runs.Run, dir string, again comment.Command) (no *reasons.StepFailed, err error) {
	at := x.Facts.Message.Pull
	j := jobs.Job{
		Checkout: dir, Dir: r.Spec.Dir, Project: r.Project, Workspace: r.Workspace,
		App: at.App, Repo: at.Repo, Installation: at.Installation, Number: at.Number, Head: r.Spec.Head,
		Owner: fmt.Sprintf("lockstep %s#%d", at.Repository(), at.Number), Actor: x.Facts.Message.Actor,
	}
	all, err := x.At(ctx, requirements.Generate, r, j, nil)
	if failed := all.failures(again); failed != nil {
		no = &failed[0]
	}
	return no, err
}

// Results are the results of steps.
type Results []jobs.StepResult

// Judgements returns the results on which applies depend.
func (all Results) Judgements() (out []runs.Judgement) {
	for _, r := range all {
		if !r.Required {
			continue
		}
		v := runs.Judgement{Name: r.Name, ID: r.ID}
		switch {
		case r.Problem != "":
			v.Mistakes = []string{r.Problem}
		case !r.Succeeded():
			v.Denied = []string{r.Failure()}
		}
		out = append(out, v)
	}
	return out
}

// Refusal returns a decision from the results of steps before an apply: each required one must succeed. again is the
// command that runs them once more.
func (all Results) Refusal(again comment.Command) (d admission.Decision) {
	for _, failed := range all.failures(again) {
		d.Reasons = append(d.Reasons, failed)
	}
	return d
}

func (all Results) failures(again comment.Command) (no []reasons.StepFailed) {
	for _, r := range all {
		if r.Required && !r.Succeeded() {
			no = append(no, reasons.StepFailed{Step: r.Name, On: string(r.On), Why: r.Failure(), Said: lastLine(r), Again: again.String()})
		}
	}
	return no
}

// maxLine is the length of a line, in bytes, that a refusal quotes.
const maxLine = 300

// lastLine returns the last line that a program wrote to its standard error or, if there is none, to its standard
// output; "" if there is none either.
func lastLine(r jobs.StepResult) string {
	for _, text := range [][]byte{r.Errors, r.Output} {
		lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(text[max(0, len(text)-4*maxLine):]), "")), "\n")
		if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
			return last[:min(len(last), maxLine)]
		}
	}
	return ""
}

// Markdown returns what the steps reported, for people.
func (all Results) Markdown() string {
	var b strings.Builder
	for _, r := range all {
		switch last := lastLine(r); {
		case !r.Succeeded() && last != "":
			fmt.Fprintf(&b, "- The step %s (%s) failed: %s. Its last line was %s.\n", markdown.Code(r.Name), r.On, markdown.Code(r.Failure()), markdown.Code(last))
		case !r.Succeeded():
			fmt.Fprintf(&b, "- The step %s (%s) failed: %s.\n", markdown.Code(r.Name), r.On, markdown.Code(r.Failure()))
		default:
			fmt.Fprintf(&b, "- The step %s (%s) succeeded.\n", markdown.Code(r.Name), r.On)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return b.String() + "\n"
}
