// Package runstatus makes the status of a run from the records alone. The status contains these parts:
//
//   - the obstacles to the run's apply
//   - the place of the apply in the queue of the run's state
//   - the decision about the run's requirements, as in the check run
//
// The package also has the result of the last look at the head of a pull request. It is for pages that may be
// opened often, so it sends no request to GitHub. Therefore, a pull request that was closed a moment ago can
// still be an obstacle, until Lockstep has received the webhook.
//
// This package writes nothing, and does not know pages. Start reading at [Project] and [Head].
package runstatus

import (
	"context"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Project returns the status of a run's project. The status has no texts of the plan or the apply, and no place
// in a queue. head is the head of the pull request, from [HeadOf]. A plan of another commit is shown as
// superseded. An apply of another commit is shown as an apply. Project reads at most three records.
func Project(ctx context.Context, records pipeline.Records, r runs.Run, head string) (comment.ProjectStatus, error) {
	p, ld := runs.Status(r), ledger.Ledger{Records: records}
	lock, err := ld.Reservation(ctx, r)
	if err != nil {
		return p, err
	}
	p.Lock = lock.OwnLock(r.Pull.Number)
	if p.Ongoing, err = ld.Ongoing(ctx, r, time.Now()); err != nil {
		return p, err
	}
	if p.Ongoing.Of > 0 && !p.Ongoing.Planning {
		p.Progress = p.Ongoing.Progress
	}
	switch p.Standing {
	case comment.Awaiting, comment.ApplyQueued, comment.Applying, comment.Stopped, comment.Applied, comment.PartApplied, comment.ApplyFailed:
		return p, nil
	}
	if Former(r, head) {
		p.Standing = comment.Superseded
	}
	switch p.Standing {
	case comment.Ready, comment.OnMerge, comment.OnceMerged, comment.Renewed:
		last, err := ld.LastApply(ctx, r)
		if err != nil {
			return p, err
		}
		runs.Block(&p, r, last, lock)
		return p, asChecked(ctx, records, r, &p)
	}
	return p, nil
}

// ApplyDir returns the directory of the keys of all records of a pull request's applies.
func ApplyDir(p pipeline.Pull) string { return ledger.ApplyDir(p) }

// Ahead returns the applies in the queue of a run's state that come before the run's own.
func Ahead(ctx context.Context, records pipeline.Records, r runs.Run) ([]comment.Turn, error) {
	queue, err := ledger.Ledger{Records: records}.Queue(ctx, r)
	return runs.AheadOf(queue, r), err
}

// maxSteps is the size of the part about steps in a text, in bytes.
const maxSteps = 20_000

// Body returns the text about a run's project in state s, with its steps: see ledger.Body. where returns the address of an
// artifact for people; nil if they cannot read artifacts.
func Body(ctx context.Context, from pipeline.Artifacts, where func(pipeline.Artifact) string, r runs.Run, s comment.Standing) (string, error) {
	body, note, err := ledger.Body(ctx, from, r, s)
	if err != nil {
		return "", err
	}
	if note != "" {
		body = note + "\n\n" + body
	}
	steps, err := ledger.Steps(ctx, from, r, s)
	if r.Plan.StepOutputs && where != nil {
		comment.StepOutputsAt(steps, where(r.StepOutputs()))
	}
	return comment.StepsMarkdown(steps, maxSteps) + body, err
}

// asChecked adds to the status of a run what only the record of the run's check run has. That is the decision
// about the requirements for the apply, and the projects that are applied first.
func asChecked(ctx context.Context, records pipeline.Records, r runs.Run, p *comment.ProjectStatus) error {
	rec, err := records.Get(ctx, runs.CheckKey(r))
	if err != nil {
		return err
	}
	c, err := runs.DecodeCheck(rec.Value)
	p.Required = c.Required
	runs.ComesAfter(p, c.Behind)
	return err
}
