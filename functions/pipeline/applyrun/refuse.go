package applyrun

import (
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/evidence"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// Untouched says that an apply failed before it changed anything: the plan is as good
// as before, as long as the pull request is open.
func (ap *Applier) Untouched(ctx context.Context, s ledger.Versioned, o jobs.Outcome) error {
	if err := ap.Artifacts.Put(ctx, s.Result(), []byte(o.Report)); err != nil {
		return err
	}
	p := report.ApplyReply(s.Run, comment.Failed{Project: s.Project, Verb: comment.Apply, Untouched: true, Closed: !ap.Evidence.Pull.Open})
	p.Body = s.Result()
	if err := ap.Report.Reply(ctx, s.Answer, p); err != nil {
		return err
	}
	return ap.backTo(ctx, s, runs.Planned)
}

// refuse says that a plan is not applied.
func (ap *Applier) refuse(ctx context.Context, s ledger.Versioned, d runs.Decision) error {
	no := evidence.Refused(comment.Command{Verb: comment.Apply}, s.Project, d)
	if err := ap.Report.Reply(ctx, s.Answer, report.ApplyReply(s.Run, no)); err != nil {
		return err
	}
	next := runs.Planned
	if d.Stale() {
		next = runs.Stale
	}
	return ap.backTo(ctx, s, next)
}

// cannotApply says that a plan is not applied if err is final; any other error stays
// one. The plan stays as it is.
func (ap *Applier) cannotApply(ctx context.Context, s ledger.Versioned, err error) error {
	d, err := evidence.Impossible(err)
	if err != nil {
		return err
	}
	return ap.refuse(ctx, s, d)
}

// backTo moves a run back that was not applied: to what it was, or, if its pull request
// is not open any more, out of the way.
func (ap *Applier) backTo(ctx context.Context, s ledger.Versioned, next runs.Phase) error {
	if !ap.Evidence.Pull.Open {
		return ap.Closer.drop(ctx, s, runs.Planned)
	}
	s, err := ap.Ledger.Save(ctx, s.To(next))
	if err != nil {
		return err
	}
	return ap.RefusedApply(ctx, s)
}

// RefusedApply looks after a run that came to rest without an apply. What happened to
// the pull request while it waited has found it in the way.
func (ap *Applier) RefusedApply(ctx context.Context, s ledger.Versioned) error {
	if s.Phase != runs.Planned && s.Phase != runs.Stale && s.Phase != runs.Dropped {
		return nil
	}
	pull, err := ap.Evidence.Hub.PullRequest(ctx, s.Pull.Number)
	switch {
	case err == nil && !pull.Open && s.Phase != runs.Dropped:
		ap.Evidence.Pull = pull
		return ap.Closer.drop(ctx, s, s.Phase)
	case err == nil && pull.Open:
		err = ap.moved(ctx, s.Run, pull)
	}
	if err != nil && !errors.Is(err, github.ErrNotFound) {
		return err
	}
	return ap.Report.AtRest(ctx, s.Run)
}

// moved asks for plans of a head that came while a run could not be planned, because it
// was being applied, or waited for it.
func (ap *Applier) moved(ctx context.Context, r runs.Run, pull github.PullRequest) error {
	if pull.Head.SHA == r.Head {
		return nil
	}
	return pipeline.Send(ctx, ap.Queue, ap.Evidence.Message.Pull, pipeline.Message{Kind: pipeline.Pushed}, r.Plain(), r.Try, pull.Head.SHA)
}
