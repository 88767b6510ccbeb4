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
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/internal/toolresults"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
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
	// Artifacts has the findings of base branches.
	Artifacts pipeline.Artifacts
	// Clean removes Lockstep's secrets from a text; nil for none.
	Clean func(string) string
}

// A List is the steps of a run for a moment, read from the base branch.
type List struct {
	all []jobs.Step
	sha string // the commit of the base branch
}

// Empty reports whether there are no steps.
func (l List) Empty() bool { return len(l.all) == 0 }

// List reads the steps of a run for a moment.
func (x Runner) List(ctx context.Context, on requirements.Moment, r runs.Run) (List, error) {
	all, sha, err := gatefacts.Steps(ctx, x.Facts, on, r)
	if err != nil {
		return List{}, fmt.Errorf("read the steps of %s: %w", r.Project, err)
	}
	return List{all, sha}, nil
}

// At reads the steps of a run for a moment, and runs them: see [Runner.Each].
func (x Runner) At(ctx context.Context, on requirements.Moment, r runs.Run, j jobs.Job, plan []byte) (Results, error) {
	l, err := x.List(ctx, on, r)
	if err != nil {
		return nil, err
	}
	return x.Each(ctx, l, r, j, plan)
}

// Again runs the generators, and the steps before the plan, of a run whose plan was made again. j is the job of that plan.
// Its programs and providers could have changed files in its checkout, so the steps have a checkout of their own.
func (x Runner) Again(ctx context.Context, r runs.Run, j jobs.Job) (Results, error) {
	l, err := x.List(ctx, requirements.BeforePlan, r)
	if err != nil {
		return nil, err
	}
	generators, err := x.List(ctx, requirements.Generate, r)
	if err != nil || l.Empty() && generators.Empty() {
		return nil, err
	}
	dir, done, err := x.Facts.Checkout(ctx, r.Spec.Merge)
	if err != nil {
		return nil, fmt.Errorf("check out the files for the steps of %s: %w", r.Project, err)
	}
	defer done()
	generated, no, err := x.Generated(ctx, r, dir, comment.Command{Verb: comment.Plan, Project: r.Project})
	if err != nil {
		return nil, err
	}
	for i := range l.all {
		if no != nil {
			l.all[i].Problem = fmt.Sprintf("the step %s (generate) failed: %s", no.Step, no.Why)
		}
	}
	j.Checkout = dir
	before, err := x.Each(ctx, l, r, j, nil)
	return slices.Concat(generated, before), err
}

// Each runs the steps in a list, one after another, in the checkout of the job. plan is the plan as JSON without sensitive
// values; nil before the plan.
func (x Runner) Each(ctx context.Context, l List, r runs.Run, j jobs.Job, plan []byte) (out Results, err error) {
	known := base{x: x, r: r}
	for _, s := range l.all {
		if x.Run == nil {
			out = append(out, Result{StepResult: jobs.StepResult{Name: s.Name, On: s.On, ID: s.ID(), Required: s.Required, Outcome: comment.StepNotStarted, Problem: "steps cannot run here"}})
			continue
		}
		got, err := x.Run(ctx, jobs.StepRun{Step: s, Job: j, BaseSHA: l.sha, Plan: plan})
		if err != nil {
			return nil, err
		}
		shown, err := x.read(j, got)
		if err != nil {
			return nil, fmt.Errorf("read the result of the step %s of %s: %w", s.Name, r.Project, err)
		}
		if shown.Findings != nil {
			shown.compared, shown.prints = known.compare(ctx, s.Name, *shown.Findings), fingerprints(*shown.Findings)
		}
		out = append(out, shown)
		if s.On == requirements.Generate && !got.Succeeded() {
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
		plan.Content.Steps, plan.Content.Costs = all.Judgements(), all.costs()
	}
	notes, _ := comment.StepNotes(all.shown(""))
	plan.Notes = append(plan.Notes, notes...)
	x.compareConfig(ctx, r, j.Checkout, all)
	plan.Findings, plan.Generated = all.encoded(), all.configuration()
	return all.On(plan), nil
}

// On returns a plan's result with the results of its steps, as people see them.
func (all Results) On(plan jobs.PlanResult) jobs.PlanResult {
	plan.Steps, plan.StepOutputs = comment.StepsWithin(all.shown("")), all.Outputs()
	return plan
}

// Generate runs the steps that write files into the checkout dir of a run's commit. The project cannot be used there if
// one of them fails: no is the failure, and again the command that runs them once more.
func (x Runner) Generate(ctx context.Context, r runs.Run, dir string, again comment.Command) (no *reasons.StepFailed, err error) {
	_, no, err = x.Generated(ctx, r, dir, again)
	return no, err
}

// Generated is like [Runner.Generate], and also returns the results of the steps.
func (x Runner) Generated(ctx context.Context, r runs.Run, dir string, again comment.Command) (all Results, no *reasons.StepFailed, err error) {
	at := x.Facts.Message.Pull
	j := jobs.Job{
		Checkout: dir, Dir: r.Spec.Dir, Project: r.Project, Workspace: r.Workspace,
		App: at.App, Repo: at.Repo, Installation: at.Installation, Number: at.Number, Head: r.Spec.Head,
		Owner: fmt.Sprintf("lockstep %s#%d", at.Repository(), at.Number), Actor: x.Facts.Message.Actor,
	}
	all, err = x.At(ctx, requirements.Generate, r, j, nil)
	if failed := all.failures(again, ""); failed != nil {
		no = &failed[0]
	}
	return all, no, err
}

// clean removes Lockstep's secrets from a text.
func (x Runner) clean(text string) string {
	if x.Clean == nil {
		return text
	}
	return x.Clean(text)
}

// redactor returns a function that removes from a text what the program of a step must not show.
func (x Runner) redactor(got jobs.StepResult) func(string) string {
	if got.Redact == nil {
		return x.clean
	}
	return func(text string) string { return x.clean(got.Redact(text)) }
}

// read makes of a program's output what people see. The output is that of a program in a checkout of the pull request.
func (x Runner) read(j jobs.Job, got jobs.StepResult) (Result, error) {
	root, err := os.OpenRoot(j.Checkout)
	if err != nil {
		return Result{}, err
	}
	defer root.Close()
	at, err := filepath.EvalSymlinks(j.Checkout) // as the program saw it
	if err != nil {
		return Result{}, err
	}
	out := Result{StepResult: got}
	redact := x.redactor(got)
	o := toolresults.Options{Root: at, Dir: j.Dir, Files: root.FS(), Redact: redact}
	if got.Total > int64(len(got.Output)) {
		o.Format = toolresults.Text // the end is missing
		out.unread = fmt.Sprintf("the output has %d MB, and at most %d MB are read", got.Total>>20, len(got.Output)>>20)
	}
	if out.Result, err = toolresults.Read(got.Output, o); err != nil {
		out.unread = err.Error()
	}
	if text := bytes.TrimSpace(got.Errors); len(text) > 0 || out.Result != (toolresults.Result{}) {
		out.text, out.before = toolresults.Tail(got.Errors, redact)
	} else {
		out.text, out.before = toolresults.Tail(got.Output, redact)
	}
	out.output = outputs(got, redact)
	if got.On == requirements.Generate && got.Succeeded() {
		if out.config, err = readConfig(root, got.Wrote, redact); err != nil {
			return Result{}, err
		}
	}
	out.Output, out.Errors = nil, nil
	return out, nil
}

// A Result is the result of a step, with what is understood of the program's output.
type Result struct {
	jobs.StepResult
	toolresults.Result
	compared *toolresults.Comparison // with the base branch; nil if that has no findings of the step
	prints   *toolresults.Findings   // what is kept of the findings; nil if there are none
	unread   string                  // why the output is not understood; "" if it is
	text     string                  // its last lines
	before   int                     // how many lines are left out before them
	config   configFiles             // the configuration that a generator wrote
	changes  *comment.FileChanges    // of these files, with the base branch; nil if there is nothing to compare
	// difference is the text of changes.
	difference string
	output     string // all that the program wrote, without secrets; the end of it if that is long
}

// Results are the results of steps.
type Results []Result

// shown returns the results as people see them. where is the place of their [Results.Outputs]; "" for none.
func (all Results) shown(where string) (out []comment.Step) {
	for _, r := range all {
		out = append(out, comment.Step{
			Name: r.Name, On: comment.StepOn(r.On), Outcome: r.Outcome, ExitCode: r.Exit, Reason: markdown.Code(r.Problem), Required: r.Required, Took: r.Took, Wrote: r.Wrote,
			Result: r.Result, Compared: r.compared, Unread: r.unread, Text: r.text, Before: r.before,
			Changes: r.changes.With(r.difference), More: strings.TrimSpace(r.output) != strings.TrimSpace(r.text),
		})
	}
	comment.StepOutputsAt(out, where)
	return out
}

// Judgements returns the results on which applies depend.
func (all Results) Judgements() (out []runs.Judgement) {
	for _, r := range all {
		if !r.Required || r.On == requirements.Generate {
			continue
		}
		v := runs.Judgement{Name: r.Name, ID: r.ID}
		switch {
		case r.Outcome == comment.StepFailed:
			v.Denied = []string{r.Failure()}
		case !r.Succeeded():
			v.Mistakes = []string{r.Failure()}
		}
		out = append(out, v)
	}
	return out
}

// costs returns what the steps have found out about costs.
func (all Results) costs() (out []runs.Cost) {
	for _, r := range all {
		if r.Cost == nil {
			continue
		}
		c := runs.Cost{Currency: r.Cost.Currency}
		if increase, known := r.Cost.Increase(); known {
			c.Increase = increase.String()
		}
		out = append(out, c)
	}
	return out
}

// Refusal returns a decision from the results of steps before an apply: each required one must succeed. again is the
// command that runs them once more. where is the place of their [Results.Outputs]; "" for none.
func (all Results) Refusal(again comment.Command, where string) (d admission.Decision) {
	for _, failed := range all.failures(again, where) {
		d.Reasons = append(d.Reasons, failed)
	}
	return d
}

func (all Results) failures(again comment.Command, where string) (no []reasons.StepFailed) {
	for _, r := range all {
		if r.Required && !r.Succeeded() {
			no = append(no, reasons.StepFailed{Step: r.Name, On: string(r.On), Why: r.Failure(), Said: r.lastLine(), Again: again.String(), Whole: where})
		}
	}
	return no
}

// maxLine is the length of a line, in bytes, that a refusal quotes.
const maxLine = 300

// lastLine returns the last line that a program wrote; "" if there is none.
func (r Result) lastLine() string {
	lines := strings.Split(strings.TrimSpace(r.text), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	return strings.ToValidUTF8(last[:min(len(last), maxLine)], "")
}

// maxMarkdown is the size of the part about steps in a report, in bytes.
const maxMarkdown = 20_000

// Markdown returns what the steps reported, for people. where is the place of their [Results.Outputs]; "" for none.
func (all Results) Markdown(where string) string {
	return comment.StepsMarkdown(all.shown(where), maxMarkdown)
}
