package applyrun

import (
	"cmp"
	"context"
	"errors"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/audit"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// audit records that the gate has allowed the apply, with the facts of its last decision.
func (p *permission) audit(ctx context.Context) (runs.Audited, error) {
	r := p.q.Run
	rec := audit.Of(r, audit.ApplyAllowed, r.Asked.By)
	rec.Parts, rec.Applied = r.Plan.Parts, p.q.Saved
	rec.Again = rec.Applied == r.Plan.Again // an earlier try has made it, and was refused
	if p.again != nil {
		rec.Applied, rec.Again = p.q.Again.Hash, true
	}
	if q := gatefacts.Decided(p.ap.Facts); q != nil && (q.Unreadable || len(q.Requirements) > 0) {
		rec.Question, rec.Ruling, rec.Approved = q, p.q.Required, p.q.Required.Approvers()
	}
	rec.Serial, rec.Lineage = p.q.State.Serial, p.q.State.Lineage
	var known runs.Audited
	if p.q.Last != nil {
		known = p.q.Last.Audited
	}
	return p.ap.Audit.Append(ctx, r, known, rec)
}

// auditRefusal records that an apply is refused. A refusal that cannot be recorded is still one.
func auditRefusal(ctx context.Context, t audit.Trail, rp *report.Reporter, r runs.Run, d admission.Decision) error {
	err := t.Command(ctx, rp.Facts.Message, r, audit.ApplyRefused, rp.Clean(d.Reasons.Markdown()))
	if errors.Is(err, pipeline.ErrRefused) {
		return nil
	}
	return err
}

// auditEnd records how an apply has ended. It can be repeated.
func (ap *Applier) auditEnd(ctx context.Context, r runs.Run, e ledger.ApplyRecord, o jobs.Outcome) (runs.Audited, error) {
	if e.Audited.N == 0 {
		return e.Audited, nil // an earlier version has begun it, or there is no audit
	}
	rec := audit.Of(r, audit.ApplyEnded, r.Asked.By)
	rec.Base, rec.Merge, rec.Allowed, rec.Approved = e.Base, e.Commit, e.Audited.N, e.Approved
	rec.Applied, rec.Again = cmp.Or(r.Plan.Again, r.Saved()), r.Plan.Again != ""
	rec.Failed, rec.Remaining, rec.Counts, rec.Serial, rec.Lineage = o.Failed, o.Remaining, o.Counts, o.State.Serial, o.State.Lineage
	return ap.Audit.Append(ctx, r, e.Audited, rec)
}
