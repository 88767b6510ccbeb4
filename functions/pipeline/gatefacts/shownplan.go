package gatefacts

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// OnGitHub returns the hash of the plan in our check run, as GitHub has it, and that of the plan that
// is applied in its place; "" if it has none. It does not depend on our records and
// artifacts: only our App writes there.
func (e *Reader) OnGitHub(ctx context.Context, r runs.Run) (hash, again string, err error) {
	c, err := e.Hub.Check(ctx, github.Check{Name: r.Check(), SHA: r.Spec.Head, ExternalID: ExternalID(r)})
	if errors.Is(err, github.ErrNotFound) {
		return "", "", nil
	}
	return markdown.PlanIn(c.Summary), markdown.PlanAgainIn(c.Summary), err
}

// CompareShown adds the plan in our check run to a request.
func (e *Reader) CompareShown(ctx context.Context, q *admission.Request) error {
	hash, again, err := e.OnGitHub(ctx, q.Run)
	q.OnGitHub, q.AgainOnGitHub = &hash, again
	return err
}

// Overtaken reports whether the merge of a pull request, which was looked at, came before a plan of a run that it can be about.
func Overtaken(ctx context.Context, e *Reader, r runs.Run) (bool, error) {
	shown, err := e.Ledger.ShownAt(ctx, r)
	return e.Pull.Merged && runs.MergedTooEarly(r, shown, e.Pull.MergedAt), err
}

// ExternalID distinguishes the check runs of a commit.
func ExternalID(r runs.Run) string { return fmt.Sprintf("%d/%s", r.Pull.Number, r.Target()) }
