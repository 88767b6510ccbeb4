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

// A Command is the import command: it imports one object by its ID, without planning anything. The
// configuration must have a block for the object.
//
// Resources have the values that are stored in the state. Nothing else is known about them, so the provider
// configuration must not depend on an object that is still to be created.
type Command struct {
	Session *session.Session // a session in which resources have their stored values
	Prior   *drafts.Prior    // the state that gets the object
	// Open opens a resource block. The returned function finds the Fetcher of an instance, which may have a
	// provider configuration of its own.
	Open func(context.Context, *config.Module, *config.Resource) (OfInstance, diags.Diagnostics)
}

// OfInstance returns the Fetcher of an instance. The scope is for evaluating expressions of this instance.
type OfInstance func(context.Context, addrs.AbsResourceInstance, eval.Scope) (*Fetcher, diags.Diagnostics)

// Run imports an object by its ID, or by its identity: see [session.TypedImportKey]. Store the prior state only
// if there are no errors: it may contain the object even if an output has an error.
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
	key, wrong := session.TypedImportKey(id, f.Schema, r.Range)
	if ds = append(ds, append(more, wrong...)...); wrong.HasErrors() {
		return ds
	}
	if ds = append(ds, f.Fetch(ctx, addr, key)...); ds.HasErrors() {
		return ds
	}
	return append(ds, c.recordOutputs()...)
}

// scope returns the scope of an instance. It returns an error if the configuration does not have the
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

// recordOutputs records the root module's outputs in the state after an import, so that the next plan does not
// change these outputs. An unknown value is recorded as null. Values that nothing refers to are also evaluated,
// and their errors are errors of the import.
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
