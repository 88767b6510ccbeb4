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
}

// Validate returns everything that is wrong whatever the inputs are.
func Validate(ctx context.Context, in Input) diags.Diagnostics {
	v := &validator{in: in}
	v.eval = eval.New(eval.World{
		Config: in.Config, Refs: in.Refs, Functions: in.Functions, ModuleFunctions: in.ModuleFunctions,
		Resource: v.resourceValue, RootDir: in.RootDir, WorkingDir: in.WorkingDir, Workspace: in.Workspace,
		Static: true,
	})
	v.s = &session.Session{Config: in.Config, Refs: in.Refs, Eval: v.eval, Providers: in.Providers}
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
		for _, p := range m.Providers {
			visits = append(visits, func(ctx context.Context) diags.Diagnostics { return v.provider(ctx, m, at, p) })
		}
	}
	found := make([]diags.Diagnostics, len(visits))
	walk.Run(ctx, 4, walk.Graph{N: len(visits), After: make([][]int32, len(visits))}, func(ctx context.Context, i int) error {
		found[i] = visits[i](ctx)
		return nil
	})
	ds := slices.Concat(found...)
	ds = append(ds, v.eval.Force(func(addrs.Object) bool { return false })...)
	ds = append(ds, session.CheckBlocks(v.eval, in.Config.Order, func(addrs.Object) bool { return false })...)
	return append(ds, v.eval.Diagnostics()...).Unreported()
}

type validator struct {
	in   Input
	s    *session.Session
	eval *eval.Evaluator
}

// resourceValue is the evaluator's window on resources: unknown, of the right type.
func (v *validator) resourceValue(a addrs.AbsResource) (cty.Value, diags.Diagnostics) {
	m := v.in.Config.Modules[a.Module.Module()]
	r := m.Resources[a.Resource]
	if r.Count != nil || r.ForEach != nil {
		return cty.DynamicVal, nil
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

// resource validates one block.
func (v *validator) resource(ctx context.Context, m *config.Module, in addrs.ModuleInstance, r *config.Resource) diags.Diagnostics {
	addr := addrs.ConfigResource{Module: m.Addr, Resource: r.Addr}.String()
	p := m.ResourceProvider(r).Provider
	ps, ds := v.in.Providers.Schema(ctx, p)
	if ds.HasErrors() {
		return ds
	}
	rs := ps.Resource(r.Addr.Mode.String(), r.Addr.Type)
	if rs == nil {
		return append(ds, session.UnsupportedType(ps, p, r.Addr, r.TypeRange.Ptr())...)
	}
	instances, more := v.eval.ResourceInstances(in, r)
	if ds = append(ds, more...); more.HasErrors() {
		return ds
	}
	scope := eval.Scope{Module: in}
	if len(instances) > 0 {
		scope.Instance = &instances[0]
	}
	val, more := v.s.ResourceConfig(r, rs, scope)
	ds = append(ds, more...)
	scope.Self = cty.UnknownVal(rs.Block.ImpliedType())
	for _, c := range slices.Concat(r.Preconditions, r.Postconditions) {
		ds = append(ds, v.eval.Evaluate(c, scope).Diags...)
	}
	if ds.HasErrors() {
		return ds
	}
	if val.ContainsMarked() && r.Addr.Mode != addrs.Ephemeral {
		if ds = append(ds, v.s.Place(rs.Block.CheckEphemeral(val), r, rs, addr)...); ds.HasErrors() {
			return ds
		}
	}
	client, more := v.in.Providers.Unconfigured(ctx, p)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	plain, _ := val.UnmarkDeep()
	switch r.Addr.Mode {
	case addrs.Managed:
		more = client.ValidateResource(ctx, r.Addr.Type, plain)
	case addrs.Data:
		more = client.ValidateData(ctx, r.Addr.Type, plain)
	case addrs.Ephemeral:
		more = client.ValidateEphemeral(ctx, r.Addr.Type, plain)
	}
	return append(ds, v.s.Place(more, r, rs, addr)...)
}

// provider validates one provider block.
func (v *validator) provider(ctx context.Context, m *config.Module, in addrs.ModuleInstance, p *config.Provider) diags.Diagnostics {
	addr := m.ProviderOf(p.Addr.LocalName)
	ps, ds := v.in.Providers.Schema(ctx, addr)
	if ds.HasErrors() {
		return ds
	}
	ectx, ds := v.eval.BlockContext(p, eval.Scope{Module: in})
	if ds.HasErrors() {
		return ds
	}
	val, ds := ps.Provider.Block.Decode(p.Body, ectx)
	if ds.HasErrors() {
		return ds
	}
	client, more := v.in.Providers.Unconfigured(ctx, addr)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	plain, _ := val.UnmarkDeep()
	more = client.ValidateProvider(ctx, plain)
	for i := range more {
		if more[i].Subject == nil {
			more[i].Subject = p.Range.Ptr()
		}
	}
	return append(ds, more...)
}
