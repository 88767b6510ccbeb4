package evidence

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// OnGitHub returns the hash of the plan that our check run shows, as GitHub has it; "" if it
// shows none. Records and artifacts are in one hand, what GitHub shows is in another: only
// our App writes it.
func (e *Reader) OnGitHub(ctx context.Context, r runs.Run) (hash string, err error) {
	c, err := e.Hub.Check(ctx, github.Check{Name: r.Check(), SHA: r.Head, ExternalID: ExternalID(r)})
	if errors.Is(err, github.ErrNotFound) {
		return "", nil
	}
	return comment.PlanIn(c.Summary), err
}

// CompareShown says in a request which plan our check run shows.
func (e *Reader) CompareShown(ctx context.Context, q *runs.Request) error {
	hash, err := e.OnGitHub(ctx, q.Run)
	q.OnGitHub = &hash
	return err
}

// ExternalID tells the check runs of a commit apart.
func ExternalID(r runs.Run) string { return fmt.Sprintf("%d/%s", r.Pull.Number, r.Target()) }
