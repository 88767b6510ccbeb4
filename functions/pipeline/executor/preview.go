package executor

import (
	"context"
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// Anybody can write a fork. So a fork's configuration is planned with a state without secrets, and its
// providers have no credentials and no network. No secret can be stolen or sent away. The plan is not saved, so
// it cannot be applied.

// Snapshot returns the state without secrets for planning a fork; it implements jobs.Engine. The job is for a
// commit of the base branch. The schemas, which say which values are secret, come from the base branch's
// providers. No configuration is evaluated.
func (e *Engine) Snapshot(ctx context.Context, j jobs.Job) (jobs.Snapshot, error) {
	j.Access, j.Linked = jobs.Reads, nil
	o, ds, err := e.open(ctx, j, true)
	//lint:ignore SA5001 after an error, too, there is something to close
	defer o.Close()
	if err != nil {
		return jobs.Snapshot{}, fmt.Errorf("open %s: %w", describe(j), err)
	}
	o.schemas = true
	state, more := snapshot(ctx, o, ds)
	if ctx.Err() != nil {
		return jobs.Snapshot{}, fmt.Errorf("read the state of %s: %w", describe(j), context.Cause(ctx))
	}
	if more.HasErrors() {
		problem, _ := o.reporter(o.secrets(nil, nil)).trouble(more)
		return jobs.Snapshot{Problem: problem}, nil
	}
	out := jobs.Snapshot{ID: runs.StateID(o.Opened)}
	if state != nil {
		out.State, err = statefile.Write(state)
	}
	return out, err
}

// snapshot reads the state and removes its secrets. It returns nil if there is no state. ds are the diagnostics
// of opening the checkout.
func snapshot(ctx context.Context, o *checkout, ds diags.Diagnostics) (*states.State, diags.Diagnostics) {
	if ds.HasErrors() {
		return nil, ds
	}
	b, ds := o.encryptedBackend(ctx)
	if ds.HasErrors() {
		return nil, ds
	}
	if ds = append(ds, o.readState(ctx, b)...); ds.HasErrors() || o.State.Current.IsEmpty() {
		return nil, ds
	}
	if ds = append(ds, o.providers(ctx)...); ds.HasErrors() {
		return nil, ds
	}
	c := censor{Secrets: &o.secrets(nil, nil).Secrets, Schemas: o.Schemas}
	return c.State(o.State.Current), ds
}

// readState sets the operation's state: to the job's snapshot if it has one, otherwise to the state that it
// reads from the backend.
func (o *checkout) readState(ctx context.Context, b statebackend.Backend) diags.Diagnostics {
	if o.job.Snapshot == nil {
		return o.OpenState(ctx, b, statebackend.DefaultWorkspace, nil)
	}
	o.State = &workdir.State{Current: states.Empty()}
	if o.job.Snapshot.State == nil {
		return nil
	}
	s, err := statefile.Read(o.job.Snapshot.State)
	if err != nil {
		return diags.FromError("The snapshot of the state cannot be read", err)
	}
	o.State.Current = s
	return nil
}

// preview plans a job for a fork, with the job's snapshot of the state.
func (e *Engine) preview(ctx context.Context, j jobs.Job) (jobs.PlanResult, error) {
	o, ds, err := e.open(ctx, j, true)
	//lint:ignore SA5001 after an error, too, there is something to close
	defer o.Close()
	if err != nil {
		return jobs.PlanResult{}, fmt.Errorf("open %s: %w", describe(j), err)
	}
	var plan *plans.Plan
	stop := o.tellPlan(ctx)
	defer stop()
	if !ds.HasErrors() {
		var more diags.Diagnostics
		plan, more = previewed(ctx, o)
		ds = append(ds, more...)
	}
	stop()
	if ctx.Err() == nil && o.teller != nil {
		o.teller.finish(o.secrets(plan, nil).From)
	}
	if ctx.Err() != nil {
		return jobs.PlanResult{}, fmt.Errorf("plan %s: %w", describe(j), context.Cause(ctx))
	}
	r := o.reporter(o.secrets(plan, nil))
	if ds.HasErrors() {
		report, full := r.trouble(ds)
		return jobs.PlanResult{Report: report, Full: full}, nil
	}
	res := jobs.PlanResult{Previewed: true, State: j.Snapshot.ID, Counts: plan.Counts()}
	res.Report, res.Full = r.plan(plan, ds)
	res.Report = comment.RiskLines(o.risks(plan)) + res.Report
	return res, nil
}

func previewed(ctx context.Context, o *checkout) (*plans.Plan, diags.Diagnostics) {
	ds := o.readState(ctx, nil)
	if ds.HasErrors() {
		return nil, ds
	}
	if ds = append(ds, o.providers(ctx)...); ds.HasErrors() {
		return nil, ds
	}
	options := engine.PlanOptions(o.options)
	options.SkipRefresh = true // nobody could read an object
	plan, more := engine.Plan(ctx, o.told(o.run(ctx)), o.State.Current, options)
	return plan, append(ds, more...)
}

// rights reports whether programs of the job get credentials. They get none when only schemas are read, and
// none in the plan of a fork.
func rights(o *checkout) bool { return o.job.Snapshot == nil && !o.schemas }

// checkOffline returns an error if the job is for a fork (it has a snapshot) and needs plugins, but this
// machine cannot run them without a network.
func checkOffline(o *checkout, plugins bool) diags.Diagnostics {
	if o.job.Snapshot == nil || !plugins || o.engine.Begin != nil {
		return nil
	}
	return diags.Errorf(nil, "Providers are not confined here", "Tests, and plans of a fork's commit, run providers without a network. This installation of Lockstep cannot close the network: its operator has to run it under Linux, with runs in processes of their own.")
}

// noRemoteState returns an error for terraform_remote_state in the plan of a fork. The arguments of this data
// source could make Lockstep's own process connect to any host.
func noRemoteState(context.Context, string, cty.Value, string) (map[string]cty.Value, error) {
	return nil, errors.New("tests, and plans of a fork's commit, run without credentials, so they read no other state. A test can set its outputs with an override_data block")
}
