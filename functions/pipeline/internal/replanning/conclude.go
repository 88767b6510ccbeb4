package replanning

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/planrun"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// conclude decides whether the waiting plan is kept or replaced, and records that. found is the comparison with
// the new plan.
func (c *Checker) conclude(ctx context.Context, s ledger.Versioned, q admission.Request, found jobs.Checked, x planrun.Replacement) error {
	if found.Problem != "" {
		return c.recordChecked(ctx, s, runs.Checked{Problem: c.Report.Clean(found.Problem)})
	}
	if found.Now.Again == nil || found.Now.Again.Plan.State != found.Now.State {
		return fmt.Errorf("check the plan of %s: the new plan is missing, or of another state", s.Project)
	}
	switch f := compared(&q, found); f.Verdict {
	case admission.StillSame:
		s.Address.Owner = q.Placing.Owner
		if err := c.place(ctx, &s, x, *q.Placing); err != nil {
			return err
		}
		return c.recordChecked(ctx, s, runs.Checked{Since: f.Reasons, Inputs: x.Inputs.Hash()})
	case admission.Another:
		x.Again, x.Since = *found.Now.Again, f.Reasons
		former := s.Former()
		s.Spec.Base, s.Spec.Merge, s.Spec.ApplyOn, s.Address.Owner = q.Run.Spec.Base, q.Run.Spec.Merge, q.Run.Spec.ApplyOn, q.Placing.Owner
		if err := c.place(ctx, &s, x, *q.Placing); err != nil {
			return err
		}
		return c.replace(ctx, s, x, former)
	default:
		return c.recordUnchecked(ctx, s, f.Reasons, nil)
	}
}

// place records the address of the state. If the base branch now has the state at another address, place also
// records that one, and lists the plan there.
func (c *Checker) place(ctx context.Context, s *ledger.Versioned, x planrun.Replacement, p admission.Placing) error {
	was := s.Address.From
	if err := ledger.Place(ctx, c.Ledger, &s.Run, x.Job.State.String(), p, c.Facts.Pull.Base.Ref); err != nil || s.Address.From == was {
		return err
	}
	return c.Ledger.ListPlan(ctx, s.Run, c.Facts.Pull.Author)
}

// compared asks the gate what the new plan in found means for the waiting plan, and returns the verdict.
func compared(q *admission.Request, found jobs.Checked) admission.Finding {
	again := found.Now.Again
	q.State, q.OtherVersion, q.Providers, q.Modules = &found.Now.State, found.Now.OtherVersion, found.Now.Providers, found.Modules
	q.Again = &admission.Again{Hash: runs.HashOf(again.Plan.Plan), State: again.Plan.State, Equal: again.Equal}
	return admission.Check(*q)
}

// replace stores the new plan instead of the waiting one.
func (c *Checker) replace(ctx context.Context, s ledger.Versioned, x planrun.Replacement, former *runs.Former) error {
	kept := planrun.PlanStore{Report: c.Report, Ledger: c.Ledger, Artifacts: c.Artifacts, Projects: c.Projects, Hooks: c.Hooks, Steps: c.Steps}
	s, err := kept.Replace(ctx, s, x)
	if err != nil {
		return fmt.Errorf("keep the new plan of %s: %w", s.Project, err)
	}
	s.Plan.Applies, s.Plan.Reads, s.Plan.Checked = c.applies, c.reads, &runs.Checked{ID: c.Facts.Message.ID, Since: x.Since, Renewed: true, Former: former}
	saved, err := c.Ledger.Save(ctx, s)
	if errors.Is(err, pipeline.ErrConflict) {
		own := s.Run
		own.Artifacts.Swept = s.Artifacts.Begun - 1
		return errors.Join(err, ledger.Sweep(ctx, c.Artifacts, own, s.Artifacts.Begun))
	}
	if err != nil {
		return err
	}
	c.Report.Made = s.Plan.Hash
	return c.announce(ctx, saved.Run)
}

// announce reports the result of a check. If the plan has changed, it writes a new comment, because GitHub
// notifies nobody of an edit.
func (c *Checker) announce(ctx context.Context, r runs.Run) error {
	if r.Plan.Checked.Renewed && r.Plan.Applyable {
		tell := comment.PlanRenewal{Project: r.Project, Plan: r.Plan.Hash, Since: r.Plan.Checked.Since, ByMerge: r.ByMerge()}
		if err := c.Report.Reply(ctx, ledger.CheckAnswer, report.NewReply(r.Target(), tell)); err != nil {
			return err
		}
	}
	return c.Report.AtRest(ctx, r)
}

// recordChecked records that the plan was checked and is kept.
func (c *Checker) recordChecked(ctx context.Context, s ledger.Versioned, checked runs.Checked) error {
	checked.ID = c.Facts.Message.ID
	checked.Problem = markdown.Cut(checked.Problem, maxProblem)
	if was := s.Plan.Checked; was != nil && was.Renewed {
		checked.Renewed, checked.Since = true, was.Since // nobody has asked for it since
	}
	checked.PlannedOn = c.plannedOn
	s.Plan.Applies, s.Plan.Reads, s.Plan.Checked = c.applies, c.reads, &checked
	s, err := c.Ledger.Save(ctx, s)
	if err != nil {
		return err
	}
	return c.announce(ctx, s.Run)
}

// maxProblem is the maximum length of the text about a problem in a record, in bytes.
const maxProblem = 8 << 10

// recordUnchecked records that a plan cannot be checked: for the reasons in no, or because of an error that
// only a person can fix. It returns any other error unchanged.
func (c *Checker) recordUnchecked(ctx context.Context, s ledger.Versioned, no reasons.List, err error) error {
	if err != nil {
		d, err := gatefacts.FinalRefusal(err)
		if err != nil {
			return err
		}
		no = d.Reasons
	}
	return c.recordChecked(ctx, s, runs.Checked{Problem: c.Report.Clean(no.Markdown())})
}

// Abandon records that all attempts to check a plan have failed.
func (c *Checker) Abandon(ctx context.Context, why comment.Broken) error {
	s, err := c.due(ctx)
	if err != nil || s.Version == "" {
		return err
	}
	switch {
	case s.End.Fate == runs.Gone:
		err = stillGone(ctx, c, s.Key(), "")
	case s.Phase == runs.PlanFailed:
		err = recordUnchanged(ctx, c, s)
	default:
		err = c.recordChecked(ctx, s, runs.Checked{Problem: comment.Markdown(why)})
	}
	if errors.Is(err, pipeline.ErrConflict) {
		return nil
	}
	return err
}
