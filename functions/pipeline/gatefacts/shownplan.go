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

// OnGitHub returns the hash of the plan in our check run on GitHub. again is the hash of the plan that is
// applied in its place; "" for none. The result does not depend on our records and artifacts: only our App can
// write that check run.
func (e *Reader) OnGitHub(ctx context.Context, r runs.Run) (hash, again string, err error) {
	c, err := e.Hub.Check(ctx, github.Check{Name: r.Check(), SHA: r.Spec.Head, ExternalID: ExternalID(r)})
	if errors.Is(err, github.ErrNotFound) {
		return "", "", nil
	}
	return markdown.PlanIn(c.Summary), markdown.PlanAgainIn(c.Summary), err
}

// CompareShown adds the hash of the plan in our check run to a request, so that the gate can compare it with
// the saved plan.
func (e *Reader) CompareShown(ctx context.Context, q *admission.Request) error {
	hash, again, err := e.OnGitHub(ctx, q.Run)
	q.OnGitHub, q.AgainOnGitHub = &hash, again
	return err
}

// MergedTooEarly reports whether the pull request was merged before the run had a plan that is valid for the
// merge: see [runs.MergedTooEarly]. Call it after [Reader.Look].
func MergedTooEarly(ctx context.Context, e *Reader, r runs.Run) (bool, error) {
	shown, err := e.Ledger.ShownAt(ctx, r)
	return e.Pull.Merged && runs.MergedTooEarly(r, shown, e.Pull.MergedAt), err
}

// ExternalID identifies a check run among those of a commit.
func ExternalID(r runs.Run) string { return fmt.Sprintf("%d/%s", r.Pull.Number, r.Target()) }
