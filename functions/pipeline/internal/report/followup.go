package report

import (
	"context"
	"errors"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// followUp opens an issue if a merge could not apply everything, because people do not look at merged pull
// requests. It keeps the issue's text up to date, and closes the issue when everything is applied. The record
// is written after the issue. If the process dies in between, the next process finds the open issue by its
// marker.
//
// An issue needs none: people read the issue itself, and no merge has left anything.
func (rp *Reporter) followUp(ctx context.Context, s comment.Status, all []ledger.Versioned, l ledger.Look) error {
	if rp.Facts.Pull.Issue != "" {
		return nil
	}
	f := comment.FollowUp{Number: rp.Facts.Message.Pull.Number, Status: s, Gone: gone(all, l.Head)}
	if err := addPredecessors(ctx, rp, &f, all, l); err != nil {
		return err
	}
	if err := findFinishers(ctx, rp, &f, all, l); err != nil {
		return err
	}
	open := f.Needed() || l.FollowUp.Open && len(f.Left()) > 0
	if !open && !l.FollowUp.Open {
		return nil
	}
	marker := comment.FollowUpMarker(f.Number)
	body := marker + markdown.Unmarked(f.Body(github.MaxComment)[len(marker):])
	x := github.Issue{Marker: marker, Title: f.Title(), Body: markdown.Cut(rp.Clean(body), github.MaxComment), Open: open}
	now := ledger.FollowUp{Number: l.FollowUp.Number, Open: open, Hash: runs.HashOf([]byte(x.Title + x.Body))}
	none := l.FollowUp.Number == 0 && l.FollowUp.Hash == now.Hash // the repository has issues disabled
	if now == l.FollowUp || none {
		return nil
	}
	err := reportFinished(ctx, rp, f, now, l.FollowUp.Open)
	if err != nil {
		return err
	}
	if now.Number, err = rp.Hub.PutIssue(ctx, l.FollowUp.Number, x); err != nil {
		return err
	}
	now.Open = now.Open && now.Number != 0
	return rp.Ledger.ChangeLook(ctx, rp.Facts.Message.Pull, func(l *ledger.Look) { l.FollowUp = now })
}

// addPredecessors adds the projects that must be applied before those that the merge has left unapplied. Some
// of them need a comment.
func addPredecessors(ctx context.Context, rp *Reporter, f *comment.FollowUp, all []ledger.Versioned, l ledger.Look) error {
	if !f.Needed() {
		return nil
	}
	f.Projects = slices.Clone(f.Projects)
	line := &gatefacts.OrderCache{Facts: rp.Facts}
	for i, p := range f.Projects {
		at := slices.IndexFunc(all, func(s ledger.Versioned) bool { return s.Spec.Head == l.Head && runs.Label(s.Run) == p.Label() })
		if !p.MergeApplies || p.Standing != comment.NotApplied || p.Behind != nil || at < 0 {
			continue
		}
		behind, err := line.Predecessors(ctx, all[at].Run)
		if err != nil {
			if _, err = gatefacts.FinalRefusal(err); err != nil {
				return err
			}
		}
		f.Projects[i].Behind = behind
	}
	return nil
}

// findFinishers finds other pull requests that have applied changes which the merge left unapplied. It records
// the changes that are still unapplied, so that a later apply can report that it has made them.
func findFinishers(ctx context.Context, rp *Reporter, f *comment.FollowUp, all []ledger.Versioned, l ledger.Look) error {
	if err := addUnapplied(ctx, rp, f, all, l); err != nil || !f.Needed() && !l.FollowUp.Open {
		return err
	}
	f.Others = map[string]int{}
	for _, p := range f.Projects {
		if p.FinishedBy != 0 && p.MergeApplies {
			f.Others[p.Label()] = p.FinishedBy
		}
	}
	for _, p := range f.Left() {
		i := slices.IndexFunc(all, func(s ledger.Versioned) bool { return s.Spec.Head == l.Head && runs.Label(s.Run) == p.Label() })
		if i < 0 {
			continue
		}
		if err := ledger.PutUnapplied(ctx, rp.Ledger, all[i].Run, rp.Facts.Pull.MergeSHA); err != nil {
			return err
		}
	}
	return nil
}

// addUnapplied records the projects that the merge left unapplied because only comments apply them. No issue is
// opened for these projects.
func addUnapplied(ctx context.Context, rp *Reporter, f *comment.FollowUp, all []ledger.Versioned, l ledger.Look) error {
	for _, s := range all {
		left := s.Spec.Head == l.Head && f.Merged && slices.ContainsFunc(f.Projects, func(p comment.ProjectStatus) bool {
			return p.Label() == runs.Label(s.Run) && !p.MergeApplies && slices.Contains([]comment.Standing{comment.NotApplied, comment.Ready, comment.Renewed, comment.Stale}, p.Standing)
		})
		if !left {
			continue
		}
		if err := ledger.PutUnapplied(ctx, rp.Ledger, s.Run, rp.Facts.Pull.MergeSHA); err != nil {
			return err
		}
	}
	return nil
}

// reportFinished writes a comment on an issue that will be closed. The comment lists the pull requests that
// have made the remaining changes. If the issue was deleted or locked, reportFinished does nothing.
func reportFinished(ctx context.Context, rp *Reporter, f comment.FollowUp, now ledger.FollowUp, wasOpen bool) error {
	text := f.Finished(github.MaxComment)
	if now.Open || !wasOpen || now.Number == 0 || text == "" {
		return nil
	}
	_, _, err := rp.Hub.PutComment(ctx, now.Number, github.Earlier{}, comment.FinishedMarker, rp.Clean(text))
	if errors.As(err, new(*github.FinalError)) || errors.Is(err, github.ErrNotFound) {
		return nil
	}
	return err
}
