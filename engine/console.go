package engine

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/funcs"
	"github.com/lockstep-iac/lockstep/engine/internal/planning/drafts"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/internal/validating"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Evaluator returns an evaluator for expressions that a person types, as in a console, and the references of
// the configuration. Resources have the values of the state.
func Evaluator(ctx context.Context, r Run, state *states.State) (*eval.Evaluator, *refs.Refs, diags.Diagnostics) {
	return r.evaluator(ctx, state, funcs.Scope{ConsoleMode: true})
}

// PlannedEvaluator is [Evaluator] with the values that a plan for the same configuration promises, unknown
// values included.
func PlannedEvaluator(ctx context.Context, r Run, plan *plans.Plan) (*eval.Evaluator, *refs.Refs, diags.Diagnostics) {
	return r.evaluator(ctx, planned(r, plan), funcs.Scope{ConsoleMode: true, PureOnly: true})
}

// CheckTyped checks an expression for an [Evaluator] against the schemas. The parameter in is the module in
// which the expression is evaluated. A reference to an attribute that does not exist is an error, even if the
// object has no value yet, and even within the functions try and can.
func CheckTyped(ctx context.Context, r Run, in addrs.Module, x hcl.Expression) diags.Diagnostics {
	return validating.Typed(ctx, validating.Input{Environment: session.Environment{Program: eval.Program{Config: r.Config}, Providers: r.Providers}}, r.Config.Modules[in], x)
}

func (r Run) evaluator(ctx context.Context, state *states.State, s funcs.Scope) (*eval.Evaluator, *refs.Refs, diags.Diagnostics) {
	a, ds := r.analyze(state)
	if ds.HasErrors() {
		return nil, nil, ds
	}
	s.BaseDir, s.Language, s.Budget = r.baseDir(), r.Config.Language, r.Budget
	env := r.environment(ctx, a, funcs.Table(s))
	env.ModuleFunctions = session.AllModuleFunctions(ctx, r.Providers, env.Functions)
	return drafts.OpenStored(ctx, env, r.Variables, drafts.NewPrior(state)).Eval, a.refs, ds
}

// planned returns the state that an apply would leave, as far as it is known. Do not store this state: it can
// have unknown values.
func planned(r Run, plan *plans.Plan) *states.State {
	e := plan.PriorState.Edit()
	if plan.Errored {
		forgetUnplanned(e, plan)
	}
	for _, c := range plan.Changes {
		switch {
		case c.Addr.Deposed != addrs.NotDeposed:
		case c.Action == plans.Delete || c.Action == plans.Forget:
			e.SetObject(c.Addr, c.Provider, nil)
		case c.Action != plans.NoOp:
			e.SetObject(c.Addr, c.Provider, &states.Object{Status: states.Ready, AttrsJSON: []byte("{}"), Value: c.After})
		}
	}
	for abs, keys := range plan.Instances.Resources {
		if m := r.Config.Modules[abs.Module.Module()]; len(keys) == 0 { // there are no instances, which is known, so the value is not unknown
			e.SetProvider(abs, m.ResourceProvider(m.Resources[abs.Resource]))
		}
	}
	return e.State()
}

// forgetUnplanned removes the managed instances that an errored plan leaves out: their new values are not
// known.
func forgetUnplanned(e *states.Editor, plan *plans.Plan) {
	told := make(map[addrs.AbsResourceInstance]bool, len(plan.Changes))
	for _, c := range plan.Changes {
		told[c.Addr.Instance] = true
	}
	for abs, r := range plan.PriorState.Resources() {
		for k := range r.Instances {
			if x := abs.Instance(k); abs.Resource.Mode == addrs.Managed && !told[x] {
				e.RemoveInstance(x)
			}
		}
	}
}
