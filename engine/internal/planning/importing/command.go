package importing

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/planning/drafts"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A Command imports one object by its ID, without planning anything: the import command. The
// configuration must have a block for it.
//
// Nothing is known but the state and the configuration, so that values are those of stored objects,
// and the provider configuration must be known from them.
type Command struct {
	Session *session.Session // whose resources have stored values
	Prior   *drafts.Prior    // which gets the object
	// Open opens a resource block. The function that it returns finds the Fetcher of an instance, whose
	// provider configuration may be its own.
	Open func(context.Context, *config.Module, *config.Resource) (OfInstance, diags.Diagnostics)
}

// OfInstance returns the Fetcher of an instance with the scope of its expressions.
type OfInstance func(context.Context, addrs.AbsResourceInstance, eval.Scope) (*Fetcher, diags.Diagnostics)

// Run imports an object. The prior state is to be stored only if there are no errors: it may have the
// object already when an output turns out to be wrong.
func (c Command) Run(ctx context.Context, addr addrs.AbsResourceInstance, id string) diags.Diagnostics {
	m := c.Session.Config.Modules[addr.Module.Module()]
	if m == nil || m.Resources[addr.Resource.Resource] == nil || addr.Resource.Resource.Mode != addrs.Managed {
		return diags.Errorf(nil, "Resource address does not exist in the configuration",
			"Before importing %s, please create its configuration: a block\n\n    resource %q %q {\n      # (resource arguments)\n    }", addr, addr.Resource.Resource.Type, addr.Resource.Resource.Name)
	}
	r := m.Resources[addr.Resource.Resource]
	open, ds := c.Open(ctx, m, r)
	if ds.HasErrors() {
		return ds
	}
	scope, more := c.scope(m, r, addr)
	if more.HasErrors() {
		return append(ds, more...)
	}
	f, more := open(ctx, addr, scope)
	if more.HasErrors() {
		return append(ds, more...)
	}
	if ds = append(ds, append(more, f.Fetch(ctx, addr, session.ImportKey{ID: id})...)...); ds.HasErrors() {
		return ds
	}
	return append(ds, c.recordOutputs()...)
}

// scope returns the scope of an instance. It is an error if the configuration does not expand to the
// instance.
func (c Command) scope(m *config.Module, r *config.Resource, addr addrs.AbsResourceInstance) (eval.Scope, diags.Diagnostics) {
	scope := eval.Scope{Module: addr.Module}
	if !addr.Module.IsRoot() && !c.Session.Eval.HasModule(m, addr.Module) {
		return scope, diags.Errorf(nil, "Configuration for import target does not exist", "The module instance %s does not exist in the configuration.", addr.Module)
	}
	ins, ds := c.Session.Eval.ResourceInstances(addr.Module, r)
	if ds.HasErrors() {
		return scope, ds
	}
	for i := range ins {
		if ins[i].Key == addr.Resource.Key {
			scope.Instance = &ins[i]
			return scope, ds
		}
	}
	return scope, append(ds, diags.Errorf(&r.Range, "Configuration for import target does not exist",
		"The configuration for %s does not produce the instance %s: check its count or for_each.", addr.AbsResource(), addr)...)
}

// recordOutputs puts the root module's outputs into the state that an object was imported into, so
// that the next plan has no changes of them. An unknown value is recorded as null. Values without
// a reference to them are evaluated as well, and their errors are errors of the import.
// Source: Terraform 1.11.4.
func (c Command) recordOutputs() diags.Diagnostics {
	ds := c.Session.Eval.Force(func(addrs.Object) bool { return false })
	for name, o := range c.Session.Config.Root.Outputs {
		v, more := c.Session.Eval.Output(addrs.RootModuleInstance, name)
		if ds = append(ds, more...); more.HasErrors() {
			continue
		}
		if plain := marks.Plain(v); plain.IsKnown() && plain.IsNull() {
			c.Prior.Editor().RemoveOutput(name)
		} else {
			c.Prior.Editor().SetOutput(name, states.Output{Value: schema.UnknownAsNull(plain), Sensitive: o.Sensitive})
		}
	}
	return ds
}
