package drift

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// patience is the number of looks that must fail, one after the other, until people are told. A provider may be down
// for an hour.
const patience = 3

// Look looks for drift in the project of the message, and updates the project's issue. It can be repeated.
func (f *Finder) Look(ctx context.Context) error {
	s, err := f.base(ctx)
	if err != nil {
		return fmt.Errorf("look for drift: %w", err)
	}
	all, err := gatefacts.ProjectsAt(ctx, f.Facts, f.Facts.Pull.Head.SHA)
	if err != nil {
		return err
	}
	m, tip := f.Facts.Message, f.Facts.Pull.Head.SHA
	r := runs.Run{ID: runs.ID{Pull: m.Pull}, Phase: runs.Queued, Spec: runs.Spec{Base: tip, Merge: tip, Head: tip}}
	r.Spec.Options.RefreshOnly = true
	i := slices.IndexFunc(all, func(p project.Project) bool {
		r.Project, r.Workspace, r.Spec.Dir, r.Spec.VarFiles, r.Spec.Environment = p.Name, p.Workspace, p.Dir, p.VarFiles, p.Environment
		return r.Target() == m.Target && s.LooksForDrift(p, all) > 0
	})
	was, err := f.Ledger.DriftOf(ctx, m.Pull, m.Target)
	if err != nil {
		return err
	}
	x := comment.DriftIssue{Project: runs.Label(r), Target: m.Target, Branch: f.Facts.Pull.Base.Ref, SHA: tip, Looked: time.Now().UTC(), Since: was.Since}
	if i < 0 {
		r.Project = runs.ProjectOf(m.Target)
		x.Project, x.Unwatched = r.Project, true
		return f.tell(ctx, m.Target, was, x)
	}
	result, problem, err := f.plan(ctx, r)
	if err != nil {
		return err
	}
	switch {
	case problem != "":
		was.Failures++
		if x.Problem = problem; was.Failures < patience {
			return f.Ledger.SaveDrift(ctx, m.Pull, m.Target, was)
		}
	case result.Drifted > 0: // other changes, such as those of outputs, are not applied yet, and are no drift
		was.Failures, x.Report, x.Objects = 0, result.Report, result.Drifted
	default:
		was.Failures, x.Over = 0, true
	}
	return f.tell(ctx, m.Target, was, x)
}

// plan plans a project with -refresh-only. problem is the reason, in Markdown, if there is no plan.
func (f *Finder) plan(ctx context.Context, r runs.Run) (result jobs.PlanResult, problem string, err error) {
	dir, done, err := f.Facts.Checkout(ctx, r.Spec.Head)
	if err != nil {
		return result, "", err
	}
	defer done()
	again := comment.Command{Verb: comment.Drift, Project: r.Project}
	if no, err := f.Steps.Generate(ctx, r, dir, again); err != nil {
		return result, "", err
	} else if no != nil {
		return result, reasons.List{*no}.Markdown(), nil
	}
	var job jobs.Job
	_, d, err := f.Facts.Ask(ctx, f.Facts.Request(comment.Plan, r), gatefacts.Sources{
		// What is on the default branch has met its requirements.
		admission.Requirements: func(_ context.Context, q *admission.Request) error {
			q.Deployment, q.ServedBy = f.Facts.Deployment, f.Facts.Deployment
			return nil
		},
		admission.StatePlace: func(ctx context.Context, q *admission.Request) (err error) {
			job, q.Unusable, err = f.Facts.Job(ctx, q, dir)
			return err
		},
	})
	if err != nil {
		if d, err = gatefacts.FinalRefusal(err); err != nil {
			return result, "", err
		}
	}
	if !d.Allowed() {
		return result, d.Reasons.Markdown(), nil
	}
	job.Owner = fmt.Sprintf("lockstep %s, looking for drift", f.Facts.Message.Pull.Repository())
	result, err = f.Engine.Plan(ctx, job)
	var dead *jobs.DeathError
	switch {
	case errors.As(err, &dead):
		return result, dead.Markdown(), nil
	case err != nil:
		return result, "", err
	case result.Plan == nil:
		return result, result.Report, nil
	}
	return result, "", nil
}

// tell writes the issue about a project, if its text or its state is not the present one, and records it.
func (f *Finder) tell(ctx context.Context, target string, was ledger.Drift, x comment.DriftIssue) error {
	open := !x.Over && !x.Unwatched
	if !open && !was.Open {
		return f.Ledger.SaveDrift(ctx, f.Facts.Message.Pull, target, ledger.Drift{Issue: was.Issue})
	}
	if !was.Open {
		x.Since = x.Looked
	}
	x.Report, x.Problem = f.Report.Clean(x.Report), f.Report.Clean(x.Problem)
	now := ledger.Drift{Issue: was.Issue, Open: open, Hash: x.Hash(), Since: x.Since, Failures: was.Failures}
	if now == was && now.Issue != 0 { // the number of failures may be another
		return f.Ledger.SaveDrift(ctx, f.Facts.Message.Pull, target, now)
	}
	// The record comes first. If this process dies after the issue is written, the next look knows that there may be
	// an issue, which it finds by its marker, and that its text is not known.
	begun := ledger.Drift{Issue: was.Issue, Open: true, Since: x.Since}
	if err := f.Ledger.SaveDrift(ctx, f.Facts.Message.Pull, target, begun); err != nil {
		return err
	}
	issue := github.Issue{Marker: comment.DriftMarker(target), Title: x.Title(), Body: x.Body(github.MaxComment), Open: open}
	issue.Body = issue.Marker + markdown.Unmarked(issue.Body[len(issue.Marker):])
	var err error
	if now.Issue, err = f.Hub.PutIssue(ctx, was.Issue, issue); err != nil {
		return err
	}
	if !open {
		now = ledger.Drift{} // the next drift gets an issue of its own
	}
	return f.Ledger.SaveDrift(ctx, f.Facts.Message.Pull, target, now)
}
