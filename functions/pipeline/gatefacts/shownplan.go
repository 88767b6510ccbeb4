package gatefacts

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// OnGitHub returns the hash of the plan that Lockstep's check run shows on GitHub. again is the hash of a newer
// plan that is applied instead; "" if there is none. Only the App can write that check run. So the result is
// right even if somebody has changed records and artifacts.
func (e *Reader) OnGitHub(ctx context.Context, r runs.Run) (hash, again string, err error) {
	if x := r.SharedCheck(); x.Number != 0 {
		all, _, err := e.PlansOnGitHub(ctx, x, r.Spec.Head)
		p := all.Of(r.Target())
		return p.Hash, p.Again, err
	}
	c, err := e.Hub.Check(ctx, github.Check{Name: r.Check(), SHA: r.Spec.Head, ExternalID: ExternalID(r)})
	if errors.Is(err, github.ErrNotFound) {
		return "", "", nil
	}
	return markdown.PlanIn(c.Summary), markdown.PlanAgainIn(c.Summary), err
}

// PlansOnGitHub returns the plans that a shared check run of a commit shows on GitHub, and whether it exists. The plans are
// nil if its text is not as Lockstep writes it.
func (e *Reader) PlansOnGitHub(ctx context.Context, x pipeline.SharedCheck, sha string) (plans markdown.Proofs, exists bool, err error) {
	c, err := e.Hub.Check(ctx, github.Check{Name: x.Name(), SHA: sha, ExternalID: x.ExternalID()})
	if errors.Is(err, github.ErrNotFound) {
		return nil, false, nil
	}
	return markdown.ProofsIn(c.Text), err == nil, err
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
