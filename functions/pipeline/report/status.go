package report

import (
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// status writes the one comment about the projects of the pull request.
func (rp *Reporter) status(ctx context.Context) error {
	all, err := rp.Ledger.Runs(ctx, rp.Evidence.Message.Pull)
	if err != nil {
		return err
	}
	l, err := rp.Ledger.LastLook(ctx, rp.Evidence.Message.Pull)
	if err != nil {
		return err
	}
	s := comment.Status{Head: l.Head, Notes: l.Notes, Conflict: l.Conflict, Problem: l.Problem, Merged: rp.Evidence.Pull.Merged, Closed: !rp.Evidence.Pull.Open && !rp.Evidence.Pull.Merged}
	for _, r := range all {
		if r.Head != s.Head || r.Phase == runs.Superseded {
			continue
		}
		p, err := rp.project(ctx, r.Run)
		if err != nil {
			return err
		}
		s.Projects = append(s.Projects, p)
		note, err := rp.unmerged(ctx, r.Run)
		if err != nil {
			return err
		}
		if note != "" {
			s.Notes = append(slices.Clip(s.Notes), note)
		}
	}
	if err := rp.checkLook(ctx, l); err != nil {
		return err
	}
	if len(s.Projects) == 0 && !s.Conflict && s.Problem == "" {
		return nil
	}
	if s.Approvals, err = rp.approvals(ctx, l.Head); err != nil {
		return err
	}
	text, at, err := rp.say(ctx, comment.StatusMarker, s.Markdown(github.MaxComment))
	if err != nil {
		return err
	}
	return rp.Ledger.Shown(ctx, all, text, at)
}

// project is the status of a run.
func (rp *Reporter) project(ctx context.Context, r runs.Run) (p comment.ProjectStatus, err error) {
	p = comment.ProjectStatus{
		Name: r.Project, Standing: r.Standing(), Counts: r.Counts, Done: r.Done, Remaining: r.Remaining, Lost: r.Lost, Progress: r.Progress, By: r.Actor, Check: r.Check(), Plan: r.PlanHash,
	}
	switch p.Standing {
	case comment.Queued, comment.Planning, comment.Superseded:
		return p, nil
	case comment.Applied, comment.ApplyFailed:
		p.Body, err = ledger.Text(ctx, rp.Artifacts, r.Result())
		if p.Body != "" || err != nil {
			return p, err
		}
	}
	p.Body, err = ledger.Text(ctx, rp.Artifacts, r.Report())
	if p.Body != "" && r.Reported != "" && runs.HashOf([]byte(p.Body)) != r.Reported {
		p.Body = comment.Exchanged()
	}
	if r.Full && rp.Where != nil && r.Phase != runs.Dropped {
		p.Whole = rp.Where(r.FullReport())
	}
	return p, err
}

// approvals are the logins of the users who approved the head.
func (rp *Reporter) approvals(ctx context.Context, head string) ([]string, error) {
	reviews, err := rp.Hub.Reviews(ctx, rp.Evidence.Message.Pull.Number)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range reviews {
		if r.State == github.Approved && r.SHA == head {
			out = append(out, r.Author)
		}
	}
	return out, nil
}

// unmerged is the note about another, unmerged pull request that was applied to the state; "" if
// there is none.
func (rp *Reporter) unmerged(ctx context.Context, r runs.Run) (string, error) {
	if r.Phase == runs.Dropped {
		return "", nil
	}
	l, err := rp.Evidence.InTheWay(ctx, r)
	if err != nil || l == nil || l.Settled || l.Number == r.Pull.Number {
		return "", err
	}
	return comment.Unmerged(l.Number, r.Project), nil
}
