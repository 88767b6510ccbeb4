package executor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/early"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/plans/planfile"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// Apply implements pipeline.Engine.
func (e *Engine) Apply(ctx context.Context, j pipeline.Job, plan []byte, permit func(pipeline.StateID) bool) (pipeline.Outcome, error) {
	j.Writes = true
	o, ds, err := e.open(ctx, j, true)
	defer o.close()
	if err != nil {
		return pipeline.Outcome{}, fmt.Errorf("open %s: %w", describe(j), err)
	}
	p, ds := o.prepare(ctx, plan, ds)
	if err := ctx.Err(); err != nil {
		return pipeline.Outcome{}, fmt.Errorf("apply %s: %w", describe(j), context.Cause(ctx))
	}
	if ds.HasErrors() {
		return pipeline.Outcome{Failed: true, State: o.stateID(), Report: o.trouble(o.secrets(p, nil), ds)}, nil
	}
	if len(o.moved) > 0 {
		return pipeline.Outcome{Moved: o.moved}, nil
	}
	if p == nil {
		return pipeline.Outcome{Outdated: true}, nil
	}
	if !permit(o.stateID()) {
		return pipeline.Outcome{Refused: true}, nil
	}
	return o.apply(ctx, p), nil
}

// errTime is why an apply is stopped that is not over when it has to be.
var errTime = errors.New("the time that one run may take is over")

// saveEvery is how much of an apply may be lost with its process: a function can be
// ended from outside, so it is less than the 20 s of a person's command line.
const saveEvery = 4 * time.Second

// apply carries out a plan, as far as there is time.
func (o *operation) apply(ctx context.Context, p *plans.Plan) pipeline.Outcome {
	// The end of this context keeps what is not begun from beginning, and nothing else:
	// calls under way go on, the state is written, and providers live by the other.
	starting := ctx
	if at := o.job.StopStarting; !at.IsZero() {
		var cancel context.CancelFunc
		starting, cancel = context.WithDeadlineCause(ctx, at, errTime)
		defer cancel()
	}
	n := newCounter(p)
	r := o.run(ctx)
	r.Events = n.count
	var unsaved error
	state, ds := engine.Apply(starting, r, p, engine.ApplyOptions{SaveEvery: saveEvery, Save: func(ctx context.Context, s *states.State) error {
		unsaved = o.state.Write(ctx, s)
		return unsaved
	}})
	if unsaved != nil {
		ds = append(ds, o.rescue(ctx, state)...)
	}
	hide := o.secrets(p, state)
	res := pipeline.Outcome{Failed: ds.HasErrors(), State: o.stateID(), Counts: n.done(p)}
	if !res.Failed {
		res.Report = o.results(hide, state, ds)
		return res
	}
	left := n.left()
	res.Remaining = len(left)
	res.Report = o.remains(hide, left, ds)
	return res
}

// prepare opens everything for applying a saved plan: the configuration that is in
// it, and the state, locked. There is no plan without errors if its modules moved, or if
// another version of Lockstep has made it.
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
	if errors.As(err, new(*planfile.VersionError)) {
		return nil, ds
	}
	if err != nil {
		return nil, append(ds, diags.FromError("The saved plan cannot be read", err)...)
	}
	if b := file.Plan.Backend; b.Type != o.settings.Name() || b.Workspace != o.job.Workspace {
		return nil, append(ds, diags.Errorf(nil, "Saved plan is for another state",
			"The plan was made for the workspace %q on the %q backend; now they are %q and %q.", b.Workspace, b.Type, o.job.Workspace, o.settings.Name())...)
	}
	if err := o.pool.SameAs(file.Providers); err != nil {
		return nil, append(ds, diags.FromError("Saved plan is for other providers", err)...)
	}
	if o.moved, err = o.movedModules(file.Modules); err != nil {
		return nil, append(ds, diags.FromError("Modules cannot be compared", err)...)
	}
	if len(o.moved) > 0 {
		return nil, ds
	}
	cfg, more := loading.Load(loading.Input{Tree: source.Saved(file.Config), Installed: o.cfg.Manifest().Lookup(), Budget: o.budget, Early: early.New(early.Input{
		Given: file.Plan.Variables, Workspace: o.job.Workspace, BaseDir: o.dir(), Files: o.window, Budget: o.budget,
	})})
	if ds = append(ds, more...); ds.HasErrors() {
		return nil, ds
	}
	o.cfg, o.variables = cfg, file.Plan.Variables
	return file.Plan, append(ds, o.refuseProvisioners()...)
}

// counter counts what an apply begins and completes, by its events. A replacement is
// two actions, as it is two in [render.Counts].
type counter struct {
	mu      sync.Mutex
	n       comment.Counts
	planned []action
	begun   map[action]bool
}

// action is one thing to do.
type action struct {
	object addrs.ResourceInstanceObject
	verb   plans.Action
}

func newCounter(p *plans.Plan) *counter {
	c := &counter{begun: map[action]bool{}}
	for _, x := range p.Changes {
		switch {
		case x.Action == plans.Create, x.Action == plans.Update, x.Action == plans.Delete:
			c.planned = append(c.planned, action{x.Addr, x.Action})
		case x.Action.IsReplace():
			c.planned = append(c.planned, action{x.Addr, plans.Delete}, action{x.Addr, plans.Create})
		}
	}
	return c
}

func (c *counter) count(e events.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e.Kind {
	case events.ApplyStart:
		c.begun[action{e.Addr, e.Action}] = true
	case events.ApplyDone:
		switch e.Action {
		case plans.Create:
			c.n.Add++
		case plans.Update:
			c.n.Change++
		case plans.Delete:
			c.n.Destroy++
		}
	}
}

// left returns what was planned and not begun.
func (c *counter) left() []action {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []action
	for _, a := range c.planned {
		if !c.begun[a] {
			out = append(out, a)
		}
	}
	return out
}

// done returns the counts, with those that have no events.
func (c *counter) done(p *plans.Plan) comment.Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _, _, c.n.Import, c.n.Forget = render.Counts(p)
	return c.n
}
