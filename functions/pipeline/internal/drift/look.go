package drift

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/steps"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
	"github.com/lockstep-iac/lockstep/github"
)

// patience is the number of looks that must fail, one after the other, until people are told. A provider may be down
// for an hour.
const patience = 3

// Look looks at the project of the message, and updates its issues. It looks for drift, unless an apply has sent the
// message. It plans the project if an apply has made it out of date. If a command asks for it, it opens a pull request with the
// present values. It can be repeated.
func (f *Finder) Look(ctx context.Context) error {
	m := f.Facts.Message
	// A look is about the repository and nobody's plan, also if a command on an issue asks for it. The gate has allowed the command.
	f.Facts.Message.Pull.Number, f.Facts.Message.Actor = 0, ""
	answer, err := f.look(ctx, m)
	f.Facts.Message = m
	if err != nil || answer == nil {
		return err
	}
	return f.Answer(ctx, answer)
}

// look looks at the project of the message m. The reply is for the command that asks for it.
func (f *Finder) look(ctx context.Context, m pipeline.Message) (reply comment.Reply, err error) {
	s, err := f.base(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for drift: %w", err)
	}
	all, err := gatefacts.ProjectsAt(ctx, f.Facts, f.Facts.Pull.Head.SHA)
	if err != nil {
		return nil, err
	}
	pull, tip := f.Facts.Message.Pull, f.Facts.Pull.Head.SHA
	r := runs.Run{ID: runs.ID{Pull: pull}, Phase: runs.Queued, Spec: runs.Spec{Base: tip, Merge: tip, Head: tip}}
	watched := slices.ContainsFunc(all, func(p project.Project) bool {
		r.Project, r.Workspace, r.Spec.Dir, r.Spec.VarFiles, r.Spec.Environment = p.Name, p.Workspace, p.Dir, p.VarFiles, p.Environment
		return r.Target() == m.Target && s.LooksForDrift(p, all) > 0
	})
	if !watched {
		r = runs.Run{ID: runs.ID{Pull: pull, Project: runs.ProjectOf(m.Target)}}
	}
	if m.After == 0 {
		if reply, err = f.lookForDrift(ctx, m, r, watched, s.DriftBlock()); err != nil {
			return nil, err
		}
	}
	return reply, f.planAfterApply(ctx, r, watched && s.TriggersRuns())
}

// lookForDrift looks for drift in a project, and updates the issue about it. watched is set if the settings let Lockstep
// look for it. The reply is for the command that asks for a pull request.
func (f *Finder) lookForDrift(ctx context.Context, m pipeline.Message, r runs.Run, watched bool, block *project.Drift) (reply comment.Reply, err error) {
	pull := f.Facts.Message.Pull
	was, err := f.Ledger.DriftOf(ctx, pull, m.Target)
	if err != nil {
		return nil, err
	}
	save := func(d ledger.Drift) error { return f.Ledger.SaveDrift(ctx, pull, m.Target, d) }
	x := comment.DriftIssue{Project: runs.Label(r), Target: m.Target, Branch: f.Facts.Pull.Base.Ref, SHA: f.Facts.Pull.Head.SHA, Looked: time.Now().UTC(), Since: was.Since}
	if x.Unwatched = !watched; x.Unwatched {
		reply = comment.DriftProposed{Project: x.Project, Problem: "the drift block does not have the project any more", Remedy: "Add it again."}
		return reply, f.tell(ctx, account{was: was, save: save, now: x.Looked, of: func(time.Time) content { return x }})
	}
	r.Spec.Options.RefreshOnly = true
	result, problem, err := f.plan(ctx, r, block)
	if err != nil {
		return nil, err
	}
	x.Ignored, x.Problem = result.DriftIgnored, f.Report.Clean(problem)
	if m.Propose {
		p := comment.DriftProposed{Project: x.Project, Problem: x.Problem}
		if problem == "" {
			p, err = f.propose(ctx, m, r, result)
		}
		if reply = p; err != nil {
			return nil, err
		}
	}
	switch {
	case problem != "":
		if was.Failures++; was.Failures < patience {
			return reply, save(was)
		}
	case result.Drifted > 0: // other changes, such as those of outputs, are not applied yet, and are no drift
		was.Failures, x.Report, x.Objects = 0, f.Report.Clean(result.Report), result.Drifted
		x.Shortened, x.Literals = result.Full != "", result.Literals.Clean(f.Report.Clean)
	default:
		was.Failures, x.Over = 0, true
	}
	a := account{was: was, save: save, now: x.Looked, of: func(since time.Time) content { x.Since = since; return x }, open: !x.Over, over: endpoints.OutcomeDriftOver}
	if a.found = (jobs.Happened{Run: r, Drifted: x.Objects}); x.Problem == "" {
		a.found.Outcome = endpoints.OutcomeDrift
	}
	return reply, f.tell(ctx, a)
}

// plan plans a project of the default branch. looks has the rules of a look for drift; it is nil for any other plan. If
// there is no plan, problem is the reason, in Markdown.
func (f *Finder) plan(ctx context.Context, r runs.Run, looks *project.Drift) (result jobs.PlanResult, problem string, err error) {
	dir, done, err := f.Facts.Checkout(ctx, r.Spec.Head)
	if err != nil {
		return result, "", err
	}
	defer done()
	return f.Steps.Plan(ctx, f.Engine, steps.Trial{
		Run: r, Dir: dir, Again: comment.Command{Verb: comment.Plan, Project: r.Project, Options: r.Spec.Options}, Request: f.Facts.Request(comment.Plan, r),
		// What is on the default branch has met its requirements.
		Sources: gatefacts.Sources{admission.Requirements: func(_ context.Context, q *admission.Request) error {
			q.Deployment, q.ServedBy = f.Facts.Deployment, f.Facts.Deployment
			return nil
		}},
		Edit: func(job *jobs.Job) {
			if looks != nil {
				job.IgnoredDrift, job.Literals = looks.Ignore, true
			}
			job.Owner = fmt.Sprintf("lockstep %s, looking for drift", f.Facts.Message.Pull.Repository())
		},
	})
}

// A content is the text of an issue, such as a comment.DriftIssue.
type content interface {
	Marker() string
	Title() string
	Body(limit int) string
	Hash() string
}

// An account is the result of one look, or of one plan after an apply. was is the record of the look before.
type account struct {
	was  ledger.Drift
	save func(ledger.Drift) error // writes the record
	now  time.Time
	// of returns the text of the issue. since is the time at which the issue's reason was first seen. open is set if the
	// issue is to be open.
	of   func(since time.Time) content
	open bool
	// found is what notifications report about an open issue. over is the outcome that they report when Lockstep closes it.
	// An empty outcome is not reported.
	found jobs.Happened
	over  endpoints.Outcome
}

// tell writes the issue of an account if its text or its state has changed. It then sends the notifications, and records
// both.
func (f *Finder) tell(ctx context.Context, a account) error {
	was := a.was
	if !a.open && !was.Open {
		return a.save(ledger.Drift{Issue: was.Issue})
	}
	since := was.Since
	if !was.Open {
		since = a.now
	}
	x := a.of(since)
	next := ledger.Drift{Issue: was.Issue, Open: a.open, Hash: x.Hash(), Since: since, Told: was.Told, Failures: was.Failures}
	if next == was && next.Issue != 0 && (next.Told || a.found.Outcome == "") { // the number of failures may be another
		return a.save(next)
	}
	// The record comes first. If this process dies after the issue is written, the next look knows that there may be
	// an issue, which it finds by its marker, and that its text is not known.
	begun := ledger.Drift{Issue: was.Issue, Open: true, Since: since, Told: was.Told}
	if err := a.save(begun); err != nil {
		return err
	}
	issue := github.Issue{Marker: x.Marker(), Title: x.Title(), Body: x.Body(github.MaxComment), Open: a.open}
	issue.Body = issue.Marker + markdown.Unmarked(issue.Body[len(issue.Marker):])
	var err error
	if next.Issue, err = f.Hub.PutIssue(ctx, was.Issue, issue); err != nil {
		return err
	}
	if err := f.Ledger.PutIssue(ctx, f.Facts.Message.Pull, next.Issue, f.Facts.Message.Target); err != nil {
		return err
	}
	if next.Told, err = f.notify(ctx, a, next); err != nil {
		return err
	}
	if !a.open {
		next = ledger.Drift{} // the next one gets an issue of its own
	}
	return a.save(next)
}

// notify reports the outcome of an account, once. told is set if the present drift is reported. d has the number of the
// issue. A process that dies before it has recorded that reports the outcome again.
func (f *Finder) notify(ctx context.Context, a account, d ledger.Drift) (told bool, err error) {
	h, url := a.found, ""
	if !a.open {
		h.Outcome = a.over
	}
	if h.Outcome == "" || a.open == d.Told {
		return d.Told, nil
	}
	h.Name = fmt.Sprintf("%s %d %d", h.Outcome, d.Issue, d.Since.Unix())
	if h.Run.Pull.Number = d.Issue; d.Issue != 0 {
		p, err := f.Hub.IssueAsPull(ctx, d.Issue)
		if err != nil && !errors.Is(err, github.ErrNotFound) {
			return d.Told, err
		}
		url = p.URL
	}
	return a.open, f.Teller.TellOf(ctx, h, url)
}
