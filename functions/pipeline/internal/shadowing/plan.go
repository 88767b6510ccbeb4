package shadowing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/steps"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/shadow"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// alone is why a verdict is unknown until there is something to compare with.
const alone = "waiting for a comment of the other tool, or for the merge"

// maxProblem is the maximum length of the reason for a failed plan in a record, in bytes.
const maxProblem = 4 << 10

// Plan makes the plan of the message, and records it. After the other tool may have applied, it plans once more and compares
// the earlier plan with the state. It can be repeated.
func (sh *Shadower) Plan(ctx context.Context) error {
	m, began := sh.Facts.Message, time.Now()
	rec, err := sh.Ledger.Shadow(ctx, m.Pull, m.Target, m.Head)
	if err != nil || rec.Queued.IsZero() {
		return err
	}
	if err := sh.Facts.Look(ctx); err != nil {
		return err
	}
	if m.Applied {
		return sh.after(ctx, rec)
	}
	if !rec.Planned.IsZero() {
		return sh.askForSync(ctx) // an earlier process has planned, and may have died before it sent the message
	}
	if !sh.Facts.Pull.Open || sh.Facts.Pull.Head.SHA != m.Head {
		return nil // nobody needs it any more
	}
	result, problem, err := sh.plan(ctx, rec)
	if err != nil {
		return err
	}
	ours := shadow.Plan{Failed: true}
	if problem == "" {
		if ours, err = shadow.FromJSON(result.JSON); err != nil {
			return err
		}
	}
	err = sh.Ledger.ChangeShadow(ctx, m.Pull, m.Target, m.Head, func(have *shadow.Record) *shadow.Record {
		r := *have
		r.Began = began.UTC()
		r.Planned, r.Ours, r.Problem = time.Now().UTC(), ours.Short(), markdown.Cut(sh.Report.Clean(problem), maxProblem)
		r.Serial, r.Lineage = result.State.Serial, result.State.Lineage
		r.Requests = sh.Hub.Budget().Used
		r.Why = alone
		return &r
	})
	if err != nil {
		return err
	}
	return sh.askForSync(ctx)
}

// Abandon records that all attempts to plan the project of the message have failed.
func (sh *Shadower) Abandon(ctx context.Context, why comment.Broken) error {
	m := sh.Facts.Message
	err := sh.Ledger.ChangeShadow(ctx, m.Pull, m.Target, m.Head, func(have *shadow.Record) *shadow.Record {
		if have == nil || !have.Planned.IsZero() {
			return nil
		}
		r := *have
		r.Planned, r.Ours, r.Problem, r.Why = time.Now().UTC(), shadow.Plan{Failed: true}, markdown.Cut(sh.Report.Clean(fmt.Sprintf("All attempts to plan the project have failed: %s To try again, press **Re-run** on this check, or push.", markdown.Code(why.Reason))), maxProblem), alone
		return &r
	})
	if err != nil {
		return err
	}
	return sh.askForSync(ctx)
}

// plan plans a project at the trial merge of a record. problem is the reason, in Markdown, if there is no plan.
func (sh *Shadower) plan(ctx context.Context, rec shadow.Record) (result jobs.PlanResult, problem string, err error) {
	dir, done, err := sh.Facts.Checkout(ctx, rec.Merge)
	if no, err := gatefacts.FinalRefusal(err); err != nil {
		return result, "", err
	} else if !no.Allowed() {
		return result, no.Reasons.Markdown(), nil
	}
	defer done()
	found, err := sh.Projects.Discover(ctx, dir)
	var dead *jobs.DeathError
	if errors.As(err, &dead) {
		return result, dead.Markdown(), nil
	}
	if err != nil {
		return result, "", err
	}
	i := slices.IndexFunc(found.Projects, func(p project.Project) bool { return p.Name == rec.Project && p.Workspace == rec.Workspace })
	if i < 0 {
		return result, "The commit does not have the project.", nil
	}
	p := found.Projects[i]
	r := runs.Run{ID: runs.ID{Pull: sh.Facts.Message.Pull, Project: p.Name, Workspace: p.Workspace}, Phase: runs.Queued}
	r.Spec = runs.Spec{Dir: p.Dir, VarFiles: p.VarFiles, Environment: p.Environment, Deployment: sh.Facts.Deployment, Head: rec.Head, Base: rec.Base, Merge: rec.Merge, AfterMerge: sh.Facts.Pull.Merged}
	q := sh.Facts.Request(comment.Plan, r)
	q.Compares = true
	result, problem, err = sh.Steps.Plan(ctx, sh.Engine, steps.Trial{
		Run: r, Dir: dir, Again: comment.Command{Verb: comment.Plan, Project: r.Project}, Request: q,
		Edit: func(job *jobs.Job) {
			job.Owner = fmt.Sprintf("lockstep %s, in shadow mode", sh.Facts.Message.Pull.Repository())
			job.PlanJSON, job.Judges = true, jobs.Judges{} // nothing decides about an apply
		},
	})
	if err == nil && problem == "" && result.JSON == nil {
		problem = result.Report
	}
	return result, problem, err
}

// after plans a merged project once more, and compares its earlier plan with the state. The plan shows which changes were
// not made.
func (sh *Shadower) after(ctx context.Context, rec shadow.Record) error {
	m := sh.Facts.Message
	if rec.Planned.IsZero() || !sh.Facts.Pull.Merged {
		return nil
	}
	if rec.Verdict != shadow.Unknown {
		return sh.askForSync(ctx)
	}
	tip, err := sh.Facts.Hub.Tip(ctx, sh.Facts.Pull.Base.Ref)
	if err != nil {
		return fmt.Errorf("look at the base branch: %w", err)
	}
	again := rec
	again.Base, again.Merge = tip, tip
	result, problem, err := sh.plan(ctx, again)
	if err != nil {
		return err
	}
	verdict := shadow.Agreement{Verdict: shadow.Unknown, Why: "Lockstep cannot plan the project after the merge, so it does not know what was applied"}
	if problem == "" {
		now, err := shadow.AfterOf(result.JSON, result.State.Serial, result.State.Lineage)
		if err != nil {
			return err
		}
		verdict = shadow.Applied(rec.Ours, rec.Serial, rec.Lineage, now)
	}
	err = sh.Ledger.ChangeShadow(ctx, m.Pull, m.Target, m.Head, func(have *shadow.Record) *shadow.Record {
		if have.Verdict != shadow.Unknown {
			return nil // meanwhile there is a comment
		}
		r := *have
		r.Agreement = verdict
		if verdict.Verdict != shadow.Unknown {
			r.Applied = time.Now().UTC()
		}
		return &r
	})
	if err != nil {
		return err
	}
	if at := nextLook(sh.Facts.Pull.MergedAt, time.Now()); problem == "" && verdict.Verdict == shadow.Unknown && result.State.Serial == rec.Serial && result.State.Lineage == rec.Lineage && !at.IsZero() {
		return &pipeline.BusyError{Until: at, Why: "the other tool has not applied the merge yet"}
	}
	return sh.askForSync(ctx)
}

// looks are how long after the merge Lockstep looks at a state once more, if nobody has applied the merge. Many workflows apply
// some minutes after it.
var looks = []time.Duration{15 * time.Minute, time.Hour}

// nextLook returns the next time to look at the state; zero for none.
func nextLook(merged, now time.Time) time.Time {
	for _, after := range looks {
		if at := merged.Add(after); at.After(now) {
			return at
		}
	}
	return time.Time{}
}

// syncs is how many times the check is written while many projects are planned.
const syncs = 10

// askForSync sends a message to compare, and to write the check: after each plan for few projects, and ten times for many.
func (sh *Shadower) askForSync(ctx context.Context) error {
	m := sh.Facts.Message
	all, err := sh.Ledger.Shadows(ctx, m.Pull)
	if err != nil {
		return err
	}
	made, left := 0, 0
	for _, r := range all {
		switch {
		case r.Head != m.Head:
		case r.Planned.IsZero():
			left++
		default:
			made++
		}
	}
	if left > 0 && made%max(5, (made+left)/syncs) != 0 {
		return nil
	}
	kind := "planned"
	if m.Applied {
		kind = "applied"
	}
	return sh.send(ctx, pipeline.Message{Kind: pipeline.SyncComments, Head: m.Head}, fmt.Sprint(kind, m.Target, made))
}
