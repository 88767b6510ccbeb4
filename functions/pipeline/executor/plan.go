package executor

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/plans/planfile"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// Plan implements jobs.Engine.
func (e *Engine) Plan(ctx context.Context, j jobs.Job) (made jobs.PlanResult, err error) {
	j.Access = jobs.Reads
	if j.Snapshot != nil {
		return e.preview(ctx, j)
	}
	o, ds, err := e.open(ctx, j, true)
	//lint:ignore SA5001 after an error, too, there is something to close
	defer o.Close()
	if err != nil {
		return jobs.PlanResult{}, fmt.Errorf("open %s: %w", describe(j), err)
	}
	defer func() { made.Calls = o.calls.take() }()
	stop := o.tellPlan(ctx)
	defer stop()
	plan, ds := o.plan(ctx, ds)
	stop()
	if ctx.Err() == nil && o.teller != nil {
		o.teller.finish(o.secrets(plan, nil).From)
	}
	if ctx.Err() != nil {
		return jobs.PlanResult{}, fmt.Errorf("plan %s: %w", describe(j), context.Cause(ctx))
	}
	if ds.HasErrors() {
		res := jobs.PlanResult{Read: o.read(), Asked: o.remote.Asked()}
		hide := o.secrets(plan, nil)
		res.Report, res.Full = o.reporter(hide).trouble(ds)
		res.Notes = o.problemNotes(ds, hide)
		return res, nil
	}
	return resultOf(ctx, o, plan, ds)
}

// resultOf saves a plan and describes it for people. ds are the warnings about the plan.
func resultOf(ctx context.Context, o *checkout, plan *plans.Plan, ds diags.Diagnostics) (jobs.PlanResult, error) {
	saved, plain, err := o.save(ctx, plan)
	if errors.Is(err, errSealing) && ctx.Err() == nil {
		res := jobs.PlanResult{Read: o.read()}
		res.Report, res.Full = o.reporter(o.secrets(plan, nil)).trouble(append(ds, diags.FromError("The plan cannot be encrypted", err)...))
		return res, nil
	}
	if err != nil {
		return jobs.PlanResult{}, fmt.Errorf("save the plan of %s: %w", describe(o.job), err)
	}
	res := jobs.PlanResult{Plan: saved, State: runs.StateID(o.Opened), Applyable: plan.Applyable, Read: o.read()}
	plan, res.DriftIgnored = withoutIgnoredDrift(plan, o.job.IgnoredDrift)
	res.Drifted = len(plan.Drift)
	if res.Parts, err = partsOf(o, plan, plain); err != nil {
		return jobs.PlanResult{}, fmt.Errorf("describe the plan of %s: %w", describe(o.job), err)
	}
	hide := o.secrets(plan, nil)
	if o.job.Literals {
		res.Literals = o.literals(plan, hide)
	}
	caused := o.causes(plan, hide)
	res.Report, res.Full = o.reporter(hide).plan(plan, ds)
	if note := comment.Uncaused(caused); note != "" {
		res.Report += "\n" + note + "\n"
	}
	res.Notes = append(comment.CauseNotes(caused), o.problemNotes(ds, hide)...)
	res.Counts, res.Doubts = plan.Counts(), unsettled(o.Recovery, o.job.Options)
	res.Outputs, res.Asked = o.outputs(ctx, plan), o.remote.Asked()
	var found []comment.Risk
	res.Content, found, err = o.contentOf(ctx, plan)
	if err != nil {
		return res, err
	}
	if res.JSON, err = o.openJSON(plan, found); err != nil {
		return res, fmt.Errorf("describe the plan for its steps: %w", err)
	}
	res.Report = comment.RiskLines(found) + o.radius(plan, found, hide).Markdown() + res.Report
	return res, nil
}

// attempts is the maximum number of times that a plan is made. The plan is made once more if somebody has
// written the state in the meantime.
const attempts = 3

// plan makes the plan. It takes no lock, so any number of pull requests can be planned at the same time, even
// during an apply. The plan contains the version of the state that it was made from. If somebody writes the
// state in the meantime, plan drops the plan and makes it once more. ds are the diagnostics of opening the
// checkout.
func (o *checkout) plan(ctx context.Context, ds diags.Diagnostics) (*plans.Plan, diags.Diagnostics) {
	if ds.HasErrors() {
		return nil, ds
	}
	b, more := o.encryptedBackend(ctx)
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, ds
	}
	for range attempts {
		plan, found := o.planOf(ctx, b)
		if ctx.Err() != nil || o.unread {
			return plan, append(ds, found...)
		}
		moved, err := o.moving(ctx)
		if err != nil {
			return nil, append(ds, diags.FromError("The state cannot be read again", err)...)
		}
		if !moved {
			return plan, append(ds, found...)
		}
	}
	return nil, append(ds, diags.Errorf(nil, "The state keeps changing",
		"The state of %s was written each of the %d times that it was planned. Wait until the apply that writes it has finished, and comment \"lockstep plan -p %[1]s\".", o.job.Project, attempts)...)
}

// moving reports whether somebody has written the state after this checkout had read it.
func (o *checkout) moving(ctx context.Context) (bool, error) {
	if o.State == nil || o.State.Workspace == nil {
		return false, nil
	}
	return o.State.Moved(ctx)
}

// planOf reads the present state from the backend b, and makes the plan from it.
func (o *checkout) planOf(ctx context.Context, b statebackend.Backend) (*plans.Plan, diags.Diagnostics) {
	ds := o.readState(ctx, b)
	if o.unread = ds.HasErrors(); o.unread {
		return nil, ds
	}
	if ds = append(ds, o.untaint(true)...); ds.HasErrors() {
		return nil, ds
	}
	if ds = append(ds, o.providers(ctx)...); ds.HasErrors() {
		return nil, ds
	}
	plan, more := engine.Plan(ctx, o.told(o.run(ctx)), o.State.Current, o.planOptions(ctx))
	more = append(more, o.withoutAffect()...)
	if plan != nil {
		more = append(more, o.Recovery.Reinvoked(plan)...)
	}
	for i := range more {
		if cause, ok := more[i].Extra.(diags.Cause); ok && cause.Unmatched {
			more[i].Severity = diags.Error // A command without effect must not look as if it had one, so the warning becomes an error.
		}
	}
	if !more.HasErrors() {
		more = append(more, withoutEffect(o.job.Options, o.State.Current, o.Config)...)
	}
	if plan != nil {
		plan.Backend = plans.Backend{Type: o.Settings.Name(), Workspace: o.job.Workspace}
		plan.Applyable = plan.Applyable || o.stores() && !plan.Errored
	}
	return plan, append(ds, more...)
}

// save encodes a plan with the configuration that it was made from. plain is the plan before encryption.
func (o *checkout) save(ctx context.Context, p *plans.Plan) (saved, plain []byte, err error) {
	packages, err := o.packages()
	if err != nil {
		return nil, nil, err
	}
	f := o.PlanFile(o.engine.Version, p)
	f.Modules, f.Lock = packages, o.lockFile()
	var b bytes.Buffer
	if err = planfile.Encode(&b, f); err != nil {
		return nil, nil, err
	}
	saved, err = o.ciphers.sealed(ctx, b.Bytes())
	return saved, b.Bytes(), err
}
