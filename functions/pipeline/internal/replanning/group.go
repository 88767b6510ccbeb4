package replanning

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/planrun"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// InQueue makes the plan of a run once more, from the commit of the message's merge group. It compares both
// plans, and records the result. The waiting plan is kept, because the pull requests before this one in the
// queue may never be merged. After the merge, the project is planned once more in any case.
//
// InQueue does nothing if the group no longer exists on GitHub. It also does nothing for a plan that was shown
// only after the pull request had entered the queue: nobody has decided to merge that plan.
func (c *Checker) InQueue(ctx context.Context) error {
	m := c.Facts.Message
	s, err := c.Ledger.Read(ctx, m.Run())
	if err != nil || s.Version == "" || s.Asked.Attempt != m.Attempt || !runs.CheckedInQueue(s.Run) {
		return err
	}
	if err := c.Facts.Look(ctx); err != nil {
		return err
	}
	g, err := c.groups().Read(ctx, m.Pull, m.MergeGroup)
	if err != nil || g.Gone || g.Head != s.Spec.Head || !c.Facts.Pull.Open || c.Facts.Pull.Head.SHA != s.Spec.Head {
		return err
	}
	if p, err := c.groups().Plan(ctx, s.Run, m.MergeGroup); err != nil || p.Of(s.Run) {
		return errors.Join(err, c.tell(ctx, s.Run, p))
	}
	now, err := gatefacts.MergeGroup(ctx, c.Facts)
	if err != nil || now.SHA != m.MergeGroup {
		return err // another message is about that
	}
	if shown, err := c.Ledger.ShownAt(ctx, s.Run); err != nil {
		return err
	} else if !runs.Empty(s.Run) && !runs.CouldHaveSeen(shown, now.At) {
		return c.keep(ctx, s.Run, comment.QueuedPlan{Outcome: comment.QueueUnseen})
	}
	if c.plannedOn, _, err = c.Foreseer.Due(ctx, s.Run); err != nil {
		return err
	}
	found, err := c.inQueue(ctx, s)
	if errors.Is(err, planrun.ErrSuperseded) {
		return nil
	}
	if err != nil {
		return err
	}
	if found.On, err = c.mergedBefore(ctx, s.Run, now.Ahead); err != nil {
		return err
	}
	if found.Outcome == comment.QueueDiffers && len(found.On) > 0 && found.settles {
		found.Outcome = comment.QueueOnTop
	}
	return c.keep(ctx, s.Run, found.QueuedPlan)
}

func (c *Checker) groups() ledger.Groups { return ledger.Groups{Ledger: c.Ledger} }

// A finding is the result of comparing a plan with the plan for a merge group. settles is set if the new plan
// shows the effects of everything that has changed.
type finding struct {
	comment.QueuedPlan
	settles bool
}

// keep records the result of comparing a run's plan in a merge group, and reports it.
func (c *Checker) keep(ctx context.Context, r runs.Run, found comment.QueuedPlan) error {
	found.Project, found.Group, found.Empty = r.Project, c.Facts.Message.MergeGroup, runs.Empty(r)
	found.Problem = c.Report.Clean(markdown.Cut(found.Problem, maxProblem))
	found.Difference = c.Report.Clean(markdown.Cut(found.Difference, maxProblem))
	p := ledger.GroupPlan{Attempt: r.Asked.Attempt, Hash: r.Plan.Hash, Found: found}
	if err := c.groups().SavePlan(ctx, r, found.Group, p); err != nil {
		return err
	}
	return c.tell(ctx, r, p)
}

func (c *Checker) tell(ctx context.Context, r runs.Run, p ledger.GroupPlan) error {
	if !p.Of(r) {
		return nil
	}
	return c.Report.ReportQueuedPlan(ctx, r, p.Found)
}

// AbandonInQueue records that all attempts to make the plan for a merge group have failed.
func (c *Checker) AbandonInQueue(ctx context.Context, why comment.Broken) error {
	m := c.Facts.Message
	s, err := c.Ledger.Read(ctx, m.Run())
	if err != nil || s.Version == "" || s.Asked.Attempt != m.Attempt || !runs.CheckedInQueue(s.Run) {
		return err
	}
	if p, err := c.groups().Plan(ctx, s.Run, m.MergeGroup); err != nil || p.Of(s.Run) {
		return errors.Join(err, c.tell(ctx, s.Run, p))
	}
	return c.keep(ctx, s.Run, comment.QueuedPlan{Outcome: comment.QueueFailed, Problem: comment.Markdown(why)})
}

// inQueue makes the plan of a run once more from the commit of the merge group, and compares both plans.
func (c *Checker) inQueue(ctx context.Context, s ledger.Versioned) (finding, error) {
	q, no, err := c.queued(ctx, s.Run)
	if err != nil || no != nil {
		return failed(no, err)
	}
	w, done, no, err := c.open(ctx, &q)
	if err != nil || no != nil {
		return failed(no, err)
	}
	defer done()
	work, stop := planrun.Until(ctx, c.Poll, func(ctx context.Context) bool {
		now, err := c.Ledger.Read(ctx, s.Key())
		g, unread := c.groups().Read(ctx, s.Pull, c.Facts.Message.MergeGroup)
		return err == nil && now.Version != s.Version || unread == nil && g.Gone
	})
	defer stop()
	again, err := c.made(work, w.job, w.kept)
	if err != nil {
		return finding{}, fmt.Errorf("plan %s at the head of the merge queue: %w", s.Project, err)
	}
	if again.Problem != "" {
		return finding{QueuedPlan: comment.QueuedPlan{Outcome: comment.QueueFailed, Problem: again.Problem}}, nil
	}
	return outcome(&q, again)
}

// outcome asks the gate what the new plan in again means for the waiting plan, and returns the result.
func outcome(q *admission.Request, again jobs.Checked) (out finding, err error) {
	if again.Now.Again == nil || again.Now.Again.Plan.State != again.Now.State {
		return out, fmt.Errorf("plan %s at the head of the merge queue: the new plan is missing, or of another state", q.Run.Project)
	}
	f := compared(q, again)
	out.Since, out.Difference, out.settles = f.Reasons, again.Now.Again.Difference, f.OnlySettleable()
	switch f.Verdict {
	case admission.StillSame:
		out.Outcome = comment.QueueSame
	case admission.Another:
		out.Outcome = comment.QueueDiffers
	default:
		return failed(f.Reasons, nil)
	}
	return out, nil
}

// failed returns the finding that the plans cannot be compared. Without an error, the parameter no has the reasons. If
// only a person can fix the error, the reasons come from the error. failed returns any other error unchanged.
func failed(no reasons.List, err error) (finding, error) {
	if err != nil {
		d, err := gatefacts.FinalRefusal(err)
		if err != nil {
			return finding{}, err
		}
		no = d.Reasons
	}
	return finding{QueuedPlan: comment.QueuedPlan{Outcome: comment.QueueFailed, Problem: no.Markdown()}}, nil
}

// queued returns a request to the gate for a plan from the commit of a merge group. Rights come from the tip of
// the base branch, because the group's commit contains files of all pull requests before this one.
func (c *Checker) queued(ctx context.Context, r runs.Run) (q admission.Request, no reasons.List, err error) {
	q, d, err := c.Facts.Ask(ctx, c.Facts.Request(comment.Plan, r), nil)
	if err != nil || !d.Allowed() {
		return q, d.Reasons, err
	}
	tip, err := c.Facts.Hub.Tip(ctx, c.Facts.Pull.Base.Ref)
	if err != nil {
		return q, nil, err
	}
	q.Run = runs.WithTrialMerge(q.Run, github.Merge{Base: tip, BaseRef: c.Facts.Pull.Base.Ref, SHA: c.Facts.Message.MergeGroup}, false)
	return q, nil, c.Facts.SetApplyOn(ctx, &q.Run)
}

// mergedBefore returns pull requests that change the same state as the run, and that are not applied yet: those
// before this one in the queue (ahead), and those that are merged.
func (c *Checker) mergedBefore(ctx context.Context, r runs.Run, ahead []int) (out []int, err error) {
	opens, err := c.Ledger.OpenPlans(ctx, r.Pull.Repo.ID, r.Address.Place, r.Target())
	if err != nil {
		return nil, err
	}
	for _, o := range opens {
		if o.Pull.Number == r.Pull.Number {
			continue
		}
		s, err := c.Ledger.Read(ctx, o.Pull.Runs()+"/"+o.Target)
		if err != nil {
			return nil, err
		}
		if s.Phase == runs.Planned && s.Plan.Applyable && slices.Contains(ahead, o.Pull.Number) || slices.Contains([]runs.Phase{runs.ApplyQueued, runs.Applying, runs.Continuing}, s.Phase) {
			out = append(out, o.Pull.Number)
		}
	}
	slices.Sort(out)
	return out, nil
}
