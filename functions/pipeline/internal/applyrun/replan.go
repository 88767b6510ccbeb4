package applyrun

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/integrations"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/planrun"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// A permission answers the engine before it applies a plan. It asks the gate after the state was locked. From
// then on, no fact can change.
type permission struct {
	ap *Applier
	*application
	q     admission.Request
	in    ledger.Inputs      // of the checkout
	last  admission.Decision // the gate's last decision
	again *jobs.Replanned    // the plan made again; nil for none
	// content has the facts about the plan that will be applied. The last decision about requirements has used
	// them.
	content *runs.Content
}

// decide asks the gate before the first change; it implements [application.permit].
func (p *permission) decide(ctx context.Context, now jobs.BeforeApply) (none ledger.Begun, _ jobs.Permit, err error) {
	if err := p.look(ctx, now); err != nil {
		return none, jobs.Refused, err
	}
	p.last = admission.Decide(p.q)
	switch {
	case p.last.PlanAgain() && admission.Has[reasons.ConfigMoved](p.last):
		return none, jobs.PlanCheckout, nil
	case p.last.PlanAgain():
		return none, jobs.PlanAgain, nil
	case !p.last.Allowed():
		return none, jobs.Refused, nil
	}
	settled := p.last.Settled()
	said, err := p.ap.Hooks.Run(ctx, jobs.HookCall{Event: endpoints.BeforeApply, Run: p.run.Run})
	if err != nil {
		return none, jobs.Refused, err
	}
	if p.last = integrations.HookRefusal(said, asksAgain(p.q)); !p.last.Allowed() {
		return none, jobs.Refused, nil
	}
	ran, err := p.ap.Steps.At(ctx, requirements.BeforeApply, p.run.Run, p.job, nil)
	if err != nil {
		return none, jobs.Refused, err
	}
	if p.last = ran.Refusal(asksAgain(p.q), ""); !p.last.Allowed() {
		where, err := p.keepOutputs(ctx, ran)
		p.last = ran.Refusal(asksAgain(p.q), where)
		return none, jobs.Refused, err
	}
	if p.after, err = p.ap.Steps.List(ctx, requirements.AfterApply, p.run.Run); err != nil {
		return none, jobs.Refused, err
	}
	p.ran = ran
	if p.last, err = p.ap.unlessStopped(ctx, p.run.Run); err != nil || !p.last.Allowed() {
		return none, jobs.Refused, err
	}
	if err := p.settle(ctx, settled); err != nil {
		return none, jobs.Refused, err
	}
	audited, err := p.audit(ctx)
	if errors.Is(err, pipeline.ErrRefused) {
		p.last = admission.Refusal(reasons.NotRecorded{Problem: p.ap.Report.Clean(err.Error()), Again: asksAgain(p.q).String()})
		return none, jobs.Refused, nil
	}
	if err != nil {
		return none, jobs.Refused, err
	}
	// The apply record is written last, immediately before the first change.
	b, err := p.ap.Ledger.Begin(ctx, p.run.Run, ledger.ApplyRecord{Audited: audited, Commit: p.q.Run.Spec.Merge, Base: p.q.Run.Spec.Base, Lifted: runs.ForRecord(p.q.Required.Lifts()), Approved: p.q.Required.Approvers(), Hooks: said, HardStop: p.job.Times.HardStop})
	if err != nil {
		return none, jobs.Refused, err
	}
	return b, jobs.Permitted, nil
}

// asksAgain returns the command by which a user can repeat a refused apply.
func asksAgain(q admission.Request) comment.Command {
	switch c := (comment.Command{Verb: comment.Apply, Project: q.Run.Project}); {
	case q.Entry == admission.ByMerge:
		return comment.Command{Verb: comment.Retry, Project: c.Project}
	case q.Run.Standing() == comment.Renewed:
		c.Plan = markdown.PlanShort(q.Run.Plan.Hash)
		return c
	default:
		return c
	}
}

// look adds to the request the facts that are known after the state was locked.
func (p *permission) look(ctx context.Context, now jobs.BeforeApply) (err error) {
	q := &p.q
	q.State, q.OtherVersion, q.Providers = &now.State, now.OtherVersion, now.Providers
	if p.again = now.Again; p.again != nil {
		q.Again = &admission.Again{Hash: runs.HashOf(p.again.Plan.Plan), State: p.again.Plan.State, Equal: p.again.Equal}
	}
	if q.Last, err = p.ap.Facts.LastApply(ctx, p.run.Run); err != nil {
		return err
	}
	if q.Applied, err = p.ap.Ledger.Applies(ctx, p.run.Run); err != nil {
		return err
	}
	if q.Reserved, err = p.ap.Facts.Reserved(ctx, p.run.Run); err != nil {
		return err
	}
	if err = p.ap.Facts.PlaceAgain(ctx, q); err != nil {
		return err
	}
	content := now.Content
	if p.again != nil {
		content = p.again.Plan.Content
	}
	if planned := q.Run.Plan.Content; content != nil && planned != nil {
		// A plan that is made again runs no steps: it is applied only if it equals the plan with these results.
		content.Steps, content.Costs = planned.Steps, planned.Costs
	}
	if err = p.ap.Facts.RequiredAgain(ctx, q, content); err != nil {
		return err
	}
	p.content = content
	recorded, err := p.ap.Ledger.Read(ctx, p.run.Key())
	q.Run.Plan.Hash, q.Run.Plan.Parts = recorded.Plan.Hash, recorded.Plan.Parts // the plan in hand must still be the recorded one
	return err
}

// judged returns a run with those verdicts of policies and gates on which the refusal is based. So people see
// the latest verdicts.
func (p *permission) judged(s ledger.Versioned) ledger.Versioned {
	s.Artifacts.Steps = p.run.Artifacts.Steps
	if s.Plan.Judged = nil; admission.Has[reasons.Required](p.last) {
		s.Plan.Judged = p.content
	}
	return s
}

// settle stores a new plan that is the same as the approved one. The new plan is applied instead of the
// approved one, which people have seen. The run keeps the hash of the approved plan. Somebody could change
// records, so the hash of the new plan is also written to Lockstep's check run.
//
// The check is written before the record. If the process dies in between, the record still has the approved
// plan, and a new one is made once more. In the other order, nobody could prove that Lockstep made the new
// plan.
func (p *permission) settle(ctx context.Context, why reasons.List) (err error) {
	if p.again == nil {
		return nil
	}
	p.run.Plan.Again, p.run.Plan.Settled = p.q.Again.Hash, why
	if err := p.ap.Artifacts.Put(ctx, p.run.AppliedPlan(), p.again.Plan.Plan); err != nil {
		return err
	}
	p.ap.Report.Made = p.run.Plan.Again
	if err := p.ap.Report.PutCheckNow(ctx, p.run.Run); err != nil {
		return err
	}
	p.run, err = p.ap.Ledger.Save(ctx, p.run)
	return err
}

// storeDifferent stores a new plan that differs from the approved one. Nothing was changed. The new plan must
// be applied by another command. If the pull request is closed, nobody can give that command.
func (ap *Applier) storeDifferent(ctx context.Context, p *permission, x planrun.Replacement) error {
	s := p.run
	if s.Over(ap.Facts.Pull.Open) {
		return ap.refuse(ctx, s, p.last)
	}
	kept := planrun.PlanStore{Report: ap.Report, Ledger: ap.Ledger, Artifacts: ap.Artifacts, Projects: ap.Projects, Hooks: ap.Hooks, Steps: ap.Steps}
	r := p.q.Run
	s.Spec.Base, s.Spec.Merge, s.Spec.ApplyOn = r.Spec.Base, r.Spec.Merge, r.Spec.ApplyOn
	s.Plan.Applies, s.Plan.Reads = p.q.Last.Count(), p.q.Applied
	x.Begun = s.NextBegun()
	s, err := kept.Replace(ctx, s, x)
	if err != nil {
		return fmt.Errorf("keep the new plan of %s: %w", s.Project, err)
	}
	p.q.Again.Hash = s.Plan.Hash // the hash over all parts
	no := comment.Refused{Command: comment.Command{Verb: comment.Apply}, Project: s.Project, Reasons: admission.Decide(p.q).Reasons}
	if err := ap.Report.Reply(ctx, s.Asked.Answer, report.ApplyReply(s.Run, no)); err != nil {
		return err
	}
	ap.Report.Made = s.Plan.Hash
	if s, err = ap.Ledger.Save(ctx, s.To(runs.Planned)); err != nil {
		return err
	}
	return ap.RefusedApply(ctx, s)
}
