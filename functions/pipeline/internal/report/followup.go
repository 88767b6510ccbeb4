package report

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// followUp opens an issue when a merge could not apply all that it should, keeps its text up to date, and closes it
// when that is done. A merged pull request is where nobody looks any more. The record comes after the issue: who dies in
// between finds the open one by its marker.
func (rp *Reporter) followUp(ctx context.Context, s comment.Status, l ledger.Look) error {
	f := comment.FollowUp{Number: rp.Evidence.Message.Pull.Number, Status: s}
	open := f.Needed() || l.FollowUp.Open && len(f.Left()) > 0
	if !open && !l.FollowUp.Open {
		return nil
	}
	marker := comment.FollowUpMarker(f.Number)
	body := marker + markdown.Unmarked(f.Body(github.MaxComment)[len(marker):])
	x := github.Issue{Marker: marker, Title: f.Title(), Body: markdown.Cut(rp.Clean(body), github.MaxComment), Open: open}
	now := ledger.FollowUp{Number: l.FollowUp.Number, Open: open, Hash: runs.HashOf([]byte(x.Title + x.Body))}
	none := l.FollowUp.Number == 0 && l.FollowUp.Hash == now.Hash // the repository has no issues
	if now == l.FollowUp || none {
		return nil
	}
	var err error
	if now.Number, err = rp.Hub.PutIssue(ctx, l.FollowUp.Number, x); err != nil {
		return err
	}
	now.Open = now.Open && now.Number != 0
	return rp.Ledger.ChangeLook(ctx, rp.Evidence.Message.Pull, func(l *ledger.Look) { l.FollowUp = now })
}
