// Package validating checks a configuration without knowing any input: every
// block is evaluated once with unknown values where there would be variables,
// instances and objects, and providers are asked whether they accept what is known.
//
// It configures no provider and refuses to know states and plans. Start at [Validate].
package validating

import (
	"context"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/session"
	"github.com/lockstep-iac/lockstep/engine/walk"
)

// Input is everything that a validation depends on.
type Input struct {
	Config              *config.Config
	Refs                *refs.Refs
	Providers           session.Providers
	Functions           map[string]function.Function
	ModuleFunctions     func(*config.Module) map[string]function.Function
	RootDir, WorkingDir string
	Workspace           string
	Bodies              *session.Bodies // shared with what follows; may be nil
	// Changing says of which blocks an apply is to create or update something, so that
	// what the plan has warned of is repeated for no others; nil if this is no apply.
	Changing func(addrs.ConfigResource) bool
}

// Validate returns everything that is wrong whatever the inputs are.
func Validate(ctx context.Context, in Input) diags.Diagnostics {
	v := &validator{in: in}
	v.eval = eval.New(eval.World{
		Config: in.Config, Refs: in.Refs, Functions: in.Functions, ModuleFunctions: in.ModuleFunctions,
		Resource: v.resourceValue, RootDir: in.RootDir, WorkingDir: in.WorkingDir, Workspace: in.Workspace,
		Static: true,
	})
	v.s = &session.Session{Config: in.Config, Refs: in.Refs, Eval: v.eval, Providers: in.Providers, Bodies: in.Bodies}
	var visits []func(context.Context) diags.Diagnostics
	for _, m := range in.Config.Order {
		ins, ds := v.eval.Modules(m)
		if ds.HasErrors() || len(ins) == 0 {
			continue // the call is reported already
		}
		at := ins[0]
		for _, r := range slices.SortedFunc(maps.Keys(m.Resources), addrs.Resource.Compare) {
			visits = append(visits, func(ctx context.Context) diags.Diagnostics { return v.resource(ctx, m, at, m.Resources[r]) })
		}
		if len(m.Removed) > 0 {
			visits = append(visits, func(context.Context) diags.Diagnostics { return v.removed(m, at) })
		}
		for _, p := range m.Providers {
			visits = append(visits, func(ctx context.Context) diags.Diagnostics { return v.provider(ctx, m, at, p) })
		}
	}
	found := make([]diags.Diagnostics, len(visits))
	walk.Run(ctx, 4, walk.Graph{N: len(visits), After: make([][]int32, len(visits))}, func(ctx context.Context, i int) error {
		found[i] = visits[i](ctx)
		return nil
	})
	all := func(addrs.Object) bool { return false }
	ds := append(slices.Concat(found...), v.strayImports()...)
	ds = append(ds, v.eval.Force(all)...)
	ds = append(ds, session.CheckBlocks(v.eval, in.Config.Order, all)...)
	ds = append(ds, v.eval.Diagnostics()...)
	static := v.references(ctx)
	return append(static, without(ds, static)...).Unreported()
}

// without returns ds without what others say in other words of the same expression.
func without(ds, others diags.Diagnostics) diags.Diagnostics {
	return slices.DeleteFunc(ds, func(d diags.Diagnostic) bool {
		return d.Subject != nil && slices.ContainsFunc(others, func(o diags.Diagnostic) bool {
			return o.Summary == d.Summary && o.Subject != nil && *o.Subject == *d.Subject
		})
	})
}

type validator struct {
	in   Input
	s    *session.Session
	eval *eval.Evaluator
}

// resourceValue is the evaluator's window on resources: unknown, of the right type.
func (v *validator) resourceValue(a addrs.AbsResource, _ []addrs.InstanceKey) (cty.Value, diags.Diagnostics) {
	m := v.in.Config.Modules[a.Module.Module()]
	r := m.Resources[a.Resource]
	if r.Count != nil || r.ForEach != nil {
		return v.eval.CollectResource(r, nil, nil), nil
	}
	ps, ds := v.in.Providers.Schema(context.Background(), m.ResourceProvider(r).Provider)
	if ds.HasErrors() {
		return cty.DynamicVal, nil // the resource's own visit reports it
	}
	rs := ps.Resource(r.Addr.Mode.String(), r.Addr.Type)
	if rs == nil {
		return cty.DynamicVal, nil
	}
	val := cty.UnknownVal(rs.Block.ImpliedType())
	if a.Resource.Mode == addrs.Ephemeral {
		val = val.Mark(marks.Ephemeral)
	}
	return val, nil
}
