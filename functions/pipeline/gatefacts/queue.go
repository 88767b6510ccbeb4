package gatefacts

import (
	"context"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
)

// A Group is the merge group of a pull request on GitHub.
type Group struct {
	SHA    string    // its commit; "" if there is no group
	By     string    // login of the user who put the pull request into the queue
	At     time.Time // when the pull request entered the queue, by GitHub's clock
	Ahead  []int     // the pull requests before it in the queue; the group contains them, too
	Behind []string  // the commits of the groups behind it, which contain this pull request, too
}

// MergeGroup returns the merge group that contains the pull request now, according to GitHub's API. (A webhook
// may be about an earlier group.)
func MergeGroup(ctx context.Context, e *Reader) (g Group, err error) {
	queue, err := e.Hub.Queue(ctx, e.Message.Pull.Number)
	for _, q := range queue {
		switch {
		case q.Number == e.Message.Pull.Number:
			g.SHA, g.By, g.At = q.SHA, q.By, q.At
		case g.SHA == "":
			g.Ahead = append(g.Ahead, q.Number)
		case q.SHA != "":
			g.Behind = append(g.Behind, q.SHA)
		}
	}
	if g.SHA == "" {
		return Group{}, err
	}
	return g, err
}

// enqueued changes the actor, if GitHub's merge queue has merged: the actor becomes the user who added the pull
// request to the queue. This user counts as the requester of the apply. If GitHub does not name the user, the
// queue stays the actor.
func enqueued(ctx context.Context, e *Reader) error {
	if e.Message.Actor != pipeline.MergeQueue || !e.Pull.Merged {
		return nil
	}
	l, err := e.Ledger.LastLook(ctx, e.Message.Pull)
	if err != nil {
		return err
	}
	by := ""
	for _, sha := range slices.Backward(l.Groups) {
		g, err := ledger.Groups{Ledger: e.Ledger}.Read(ctx, e.Message.Pull, sha)
		if err != nil {
			return err
		}
		if sha == e.Pull.MergeSHA && g.By != "" {
			by = g.By // the queue has merged exactly this commit
			break
		}
		if by == "" && !g.Gone && g.Head == e.Pull.Head.SHA {
			by = g.By
		}
	}
	if by != "" {
		e.Message.Actor = by
	}
	return nil
}
