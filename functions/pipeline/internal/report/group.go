package report

import (
	"context"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// queued returns the comparisons of plans with plans from the commit of a merge group. It has those of projects
// whose plans the merge applies, or whose plans have no changes.
func queued(ctx context.Context, rp *Reporter, head, sha string) (out []comment.QueuedPlan, err error) {
	all, err := rp.Ledger.Runs(ctx, rp.Facts.Message.Pull)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Spec.Head != head || !runs.CheckedInQueue(s.Run) {
			continue
		}
		p, err := ledger.Groups{Ledger: rp.Ledger}.Plan(ctx, s.Run, sha)
		if err != nil {
			return nil, err
		}
		if !p.Of(s.Run) {
			p.Found = comment.QueuedPlan{Project: s.Project, Group: sha}
		}
		out = append(out, p.Found)
	}
	g, err := ledger.Groups{Ledger: rp.Ledger}.Read(ctx, rp.Facts.Message.Pull, sha)
	if err != nil || g.Head != head {
		return out, err
	}
	for _, target := range g.More {
		out = append(out, comment.QueuedPlan{Project: runs.ProjectOf(target), Group: sha, Outcome: comment.QueueApart})
	}
	return out, nil
}

// statusInGroup returns the status for the check of a merge group. Its requirements are decided for the user
// who added the pull request to the queue, because this user counts as the requester of the applies. It does
// not say that the head lacks commits of the base branch, because the group's commit contains them.
func statusInGroup(ctx context.Context, rp *Reporter, s comment.Status, g ledger.Group) (comment.Status, error) {
	if g.Gone {
		return s, nil
	}
	all, err := rp.Ledger.Runs(ctx, rp.Facts.Message.Pull)
	if err != nil {
		return s, err
	}
	s.Projects = slices.Clone(s.Projects)
	for _, r := range all {
		i := slices.IndexFunc(s.Projects, func(p comment.ProjectStatus) bool {
			return p.Name == r.Project && p.Workspace == runs.Status(r.Run).Workspace
		})
		if i < 0 || s.Projects[i].Standing != comment.OnMerge {
			continue
		}
		if s.Projects[i].Required, err = gatefacts.MissingInGroup(ctx, rp.Facts, r.Run, g.By); err != nil {
			return s, err
		}
	}
	return s, nil
}
