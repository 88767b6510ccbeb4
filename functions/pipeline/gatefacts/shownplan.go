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

// OnGitHub returns the hash of the plan that Lockstep's check run shows on GitHub. again is the hash of a newer
// plan that is applied instead; "" if there is none. Only the App can write that check run. So the result is
// right even if somebody has changed records and artifacts.
func (e *Reader) OnGitHub(ctx context.Context, r runs.Run) (hash, again string, err error) {
	c, err := e.Hub.Check(ctx, github.Check{Name: r.Check(), SHA: r.Spec.Head, ExternalID: ExternalID(r)})
	if errors.Is(err, github.ErrNotFound) {
		return "", "", nil
	}
	return markdown.PlanIn(c.Summary), markdown.PlanAgainIn(c.Summary), err
}

// CompareShown sets in the request the hash of the plan that Lockstep's check run shows. So the gate can
// compare it with the saved plan.
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

// ExternalID returns the text by which a run's check run is distinguished from others of the same commit.
func ExternalID(r runs.Run) string { return fmt.Sprintf("%d/%s", r.Pull.Number, r.Target()) }
