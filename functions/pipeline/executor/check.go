package executor

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/plans/planfile"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// Check checks whether a saved plan is still right; it implements jobs.Engine. It has the rights of a plan: it
// takes no lock, and its programs have credentials for reading.
func (e *Engine) Check(ctx context.Context, j jobs.Job, plan []byte) (jobs.Checked, error) {
	j.Access = jobs.Reads
	o, ds, err := e.open(ctx, j, true)
	//lint:ignore SA5001 after an error, too, there is something to close
	defer o.Close()
	if err != nil {
		return jobs.Checked{}, fmt.Errorf("open %s: %w", describe(j), err)
	}
	now, ds := o.plan(ctx, ds)
	if ctx.Err() != nil {
		return jobs.Checked{}, fmt.Errorf("check the plan of %s: %w", describe(j), context.Cause(ctx))
	}
	var kept *plans.Plan
	if !ds.HasErrors() {
		var more diags.Diagnostics
		kept, more = replan{o}.kept(ctx, plan)
		ds = append(ds, more...)
	}
	if ds.HasErrors() {
		problem, _ := o.reporter(o.secrets(now, nil)).trouble(ds)
		return jobs.Checked{Problem: problem}, nil
	}
	out := jobs.Checked{Now: o.present, Modules: o.moved}
	out.Now.State = runs.StateID(o.Opened)
	if out.Now.Again, err = (replan{o}).against(ctx, kept, now, ds); err != nil {
		return jobs.Checked{}, err
	}
	return out, nil
}

// kept decodes an earlier plan with the configuration of the checkout and the providers of the new plan. It
// returns nil without errors if the earlier plan has the format of another version of Lockstep.
func (o replan) kept(ctx context.Context, saved []byte) (*plans.Plan, diags.Diagnostics) {
	file, ds := o.decode(ctx, saved)
	if file == nil {
		return nil, ds
	}
	o.merged.planned = file.Config
	return file.Plan, ds
}

// decode decodes a saved plan, and finds out which parts have changed since it was made. It returns nil without
// errors if the plan has the format of another version of Lockstep.
func (o replan) decode(ctx context.Context, saved []byte) (*planfile.File, diags.Diagnostics) {
	saved, err := o.ciphers.unsealed(ctx, saved)
	if err != nil {
		return nil, diags.Errorf(nil, "The saved plan cannot be decrypted", "%s. If the encryption of the base branch has changed since the plan, comment \"lockstep plan -p %s\" for a new one.", err, o.job.Project)
	}
	file, err := planfile.Decode(saved, planfile.Options{Engine: o.engine.Version, AnyEngine: true, Schema: func(p addrs.Provider, mode, typeName string) *schema.Schema {
		if s := o.Schemas(p); s != nil {
			return s.Resource(mode, typeName)
		}
		return nil
	}})
	o.merged = merged{config: o.Config, variables: o.Variables}
	if o.present.OtherVersion = errors.As(err, new(*planfile.VersionError)); o.present.OtherVersion {
		return nil, nil
	}
	if err != nil {
		return nil, diags.FromError("The saved plan cannot be read", err)
	}
	if b := file.Plan.Backend; b.Type != o.Settings.Name() || b.Workspace != o.job.Workspace {
		return nil, diags.Errorf(nil, "Saved plan is for another state",
			"The plan was made for the workspace %q on the %q backend; now they are %q and %q.", b.Workspace, b.Type, o.job.Workspace, o.Settings.Name())
	}
	o.present.OtherVersion = file.Engine != o.engine.Version
	o.present.Content, _ = o.factsOf(file.Plan)
	if err := o.Providers.SameAs(file.Providers); err != nil {
		o.present.Providers = err.Error()
	}
	if o.checkout.moved, err = o.movedModules(file.Modules); err != nil {
		return nil, diags.FromError("Modules cannot be compared", err)
	}
	return file, nil
}
