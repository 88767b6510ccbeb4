package operating

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/plans/planfile"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/run"
)

// Plan implements run.Engine.
func (e *Engine) Plan(ctx context.Context, j run.Job) (run.PlanResult, error) {
	o, ds, err := e.open(j)
	defer o.close()
	if err != nil {
		return run.PlanResult{}, fmt.Errorf("open %s: %w", describe(j), err)
	}
	plan, ds := o.plan(ctx, ds)
	if ctx.Err() != nil {
		return run.PlanResult{}, fmt.Errorf("plan %s: %w", describe(j), context.Cause(ctx))
	}
	hide := secretsOf(plan, o)
	if ds.HasErrors() {
		return run.PlanResult{Report: hide.from(o.trouble(ds))}, nil
	}
	saved, err := o.save(plan)
	if err != nil {
		return run.PlanResult{}, fmt.Errorf("save the plan of %s: %w", describe(j), err)
	}
	res := run.PlanResult{Plan: saved, State: o.stateID(), Applyable: plan.Applyable, Report: hide.from(o.report(plan, ds))}
	c := &res.Counts
	c.Add, c.Change, c.Destroy, c.Import, c.Forget = render.Counts(plan)
	return res, nil
}

// plan makes the plan; ds is what opening said.
func (o *operation) plan(ctx context.Context, ds diags.Diagnostics) (*plans.Plan, diags.Diagnostics) {
	if ds.HasErrors() {
		return nil, ds
	}
	if ds = append(ds, o.lock(ctx, "OperationTypePlan")...); ds.HasErrors() {
		return nil, ds
	}
	if ds = append(ds, o.providers(ctx, o.state.Current)...); ds.HasErrors() {
		return nil, ds
	}
	plan, more := engine.Plan(ctx, o.run(), o.state.Current, engine.PlanOptions{})
	if plan != nil {
		plan.Backend = plans.Backend{Type: o.backendType(), Workspace: o.job.Workspace}
	}
	return plan, append(ds, more...)
}

// save encodes a plan with the configuration that it was made from.
func (o *operation) save(p *plans.Plan) ([]byte, error) {
	f := &planfile.File{Engine: o.engine.Version, Plan: p, Config: map[string][]byte{}, Lock: o.lockFile(), Providers: o.pool.Selections()}
	for name, file := range o.cfg.Files {
		f.Config[name] = file.Bytes
	}
	var b bytes.Buffer
	err := planfile.Encode(&b, f)
	return b.Bytes(), err
}

// Apply implements run.Engine.
func (e *Engine) Apply(ctx context.Context, j run.Job, plan []byte, permit func(run.StateID) bool) (run.Outcome, error) {
	o, ds, err := e.open(j)
	defer o.close()
	if err != nil {
		return run.Outcome{}, fmt.Errorf("open %s: %w", describe(j), err)
	}
	p, ds := o.prepare(ctx, plan, ds)
	if err := ctx.Err(); err != nil {
		return run.Outcome{}, fmt.Errorf("apply %s: %w", describe(j), context.Cause(ctx))
	}
	hide := secretsOf(p, o)
	if ds.HasErrors() {
		return run.Outcome{Failed: true, Report: hide.from(o.trouble(ds))}, nil
	}
	if !permit(o.stateID()) {
		return run.Outcome{Refused: true}, nil
	}
	var n counter
	r := o.run()
	r.Events = n.count
	var unsaved error
	state, more := engine.Apply(ctx, r, p, engine.ApplyOptions{Save: func(ctx context.Context, s *states.State) error {
		unsaved = o.state.Write(ctx, s)
		return unsaved
	}})
	ds = append(ds, more...)
	if unsaved != nil {
		ds = append(ds, o.rescue(state)...)
	}
	res := run.Outcome{Failed: ds.HasErrors(), State: o.stateID(), Counts: n.done(p)}
	if res.Failed {
		res.Report = hide.from(o.trouble(ds))
	} else {
		res.Report = hide.from(o.results(state, ds))
	}
	return res, nil
}

// prepare opens everything for applying a saved plan: the configuration that is in
// it, and the state, locked.
func (o *operation) prepare(ctx context.Context, saved []byte, ds diags.Diagnostics) (*plans.Plan, diags.Diagnostics) {
	if ds.HasErrors() {
		return nil, ds
	}
	if ds = append(ds, o.lock(ctx, "OperationTypeApply")...); ds.HasErrors() {
		return nil, ds
	}
	if ds = append(ds, o.providers(ctx, o.state.Current)...); ds.HasErrors() {
		return nil, ds
	}
	file, err := planfile.Decode(saved, planfile.Options{Engine: o.engine.Version, Schema: func(p addrs.Provider, mode, typeName string) *schema.Schema {
		if s := o.schemas(p); s != nil {
			return s.Resource(mode, typeName)
		}
		return nil
	}})
	if err != nil {
		return nil, append(ds, diags.FromError("The saved plan cannot be read", err)...)
	}
	if b := file.Plan.Backend; b.Type != o.backendType() || b.Workspace != o.job.Workspace {
		return nil, append(ds, diags.Errorf(nil, "Saved plan is for another state",
			"The plan was made for the workspace %q on the %q backend; now they are %q and %q.", b.Workspace, b.Type, o.job.Workspace, o.backendType())...)
	}
	if err := o.pool.SameAs(file.Providers); err != nil {
		return nil, append(ds, diags.FromError("Saved plan is for other providers", err)...)
	}
	cfg, more := config.Load(config.Input{Tree: source.Files(file.Config)})
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, ds
	}
	o.cfg, o.variables = cfg, file.Plan.Variables
	return file.Plan, ds
}

// rescue keeps a state that its backend did not take: it is all that is known of what
// exists now.
func (o *operation) rescue(s *states.State) diags.Diagnostics {
	next := s.With(o.state.Current.Lineage, o.state.Current.Serial+1)
	if next.Lineage == "" {
		next.Lineage = states.NewLineage()
	}
	data, err := statefile.Write(next)
	name := fmt.Sprintf("%s-%s-%s-%s.tfstate", segment(o.job.Repo.Owner), segment(o.job.Repo.Name), segment(o.job.Project), time.Now().UTC().Format("20060102T150405.000"))
	if err == nil && o.engine.Rescued == "" {
		err = errors.New("no directory is set for such states")
	}
	if err == nil {
		err = os.MkdirAll(o.engine.Rescued, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(o.engine.Rescued, name), data, 0o600)
	}
	if err != nil {
		return diags.FromError("The new state is lost", fmt.Errorf("neither the backend nor this machine could keep it: %w. What was made has to be imported", err))
	}
	return diags.Errorf(nil, "The new state is not in its backend",
		"The backend did not take the state that describes what exists now. Whoever runs Lockstep has it in the file %s: push it with \"lockstep state push\" before anything else is applied.", name)
}

// counter counts what an apply completed, by its events.
type counter struct {
	mu sync.Mutex
	n  comment.Counts
}

func (c *counter) count(e events.Event) {
	if e.Kind != events.ApplyDone {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e.Action {
	case plans.Create:
		c.n.Add++
	case plans.Update:
		c.n.Change++
	case plans.Delete:
		c.n.Destroy++
	}
}

// done returns the counts, with those that have no events.
func (c *counter) done(p *plans.Plan) comment.Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _, _, c.n.Import, c.n.Forget = render.Counts(p)
	return c.n
}
