package applying

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// An object carries out one change.
type object struct {
	a      *applier
	c      *plans.ResourceChange
	r      *config.Resource // nil if the configuration does not have the block
	cr     addrs.ConfigResource
	rs     *schema.Schema
	client provider.Client
	// interrupted means that an earlier process has begun this change, and its outcome is unknown.
	interrupted bool
}

// of returns the object for a change, with its block.
func (a *applier) of(c *plans.ResourceChange) *object {
	x := &object{a: a, c: c, cr: c.Addr.Instance.Config()}
	if m := a.in.Config.Modules[x.cr.Module]; m != nil {
		x.r = m.Resources[x.cr.Resource]
	}
	return x
}

// open returns the object for a change, with its block, schema and provider. Forgetting an object needs none
// of these, and works if the provider can no longer be installed: often that is the reason for forgetting.
func (a *applier) open(ctx context.Context, c *plans.ResourceChange) (*object, diags.Diagnostics) {
	x := a.of(c)
	if c.Action == plans.Forget {
		return x, nil
	}
	var ds, more diags.Diagnostics
	if x.rs, ds = a.schema(ctx, c, x.r); ds.HasErrors() {
		return nil, ds
	}
	x.client, more = a.s.Client(ctx, c.Provider)
	return x, append(ds, more...)
}

// address returns the address for diagnostics: the address of the instance, even for a deposed object.
func (x *object) address() string { return x.c.Addr.Instance.String() }

// schema returns the schema of a change's resource type.
func (a *applier) schema(ctx context.Context, c *plans.ResourceChange, r *config.Resource) (*schema.Schema, diags.Diagnostics) {
	if c.Schema != nil {
		return c.Schema, nil
	}
	place := r
	if place == nil {
		place = &config.Resource{}
	}
	rs, _, ds := a.s.Schema(ctx, c.Provider.Provider, c.Addr.Instance.Resource.Resource, place.TypeRange.Ptr())
	return rs, ds
}

// meta returns the module's provider_meta for the provider; cty.NilVal if there is none. Planning has
// reported its errors.
func (x *object) meta(ctx context.Context) cty.Value {
	v, ds := x.a.s.Meta(ctx, x.r, x.c.Provider.Provider, x.c.Addr.Instance)
	x.a.report.add(ds)
	if ds.HasErrors() {
		return cty.NilVal
	}
	return v
}

// conditions evaluates the pre- or postconditions of the object, and records their results.
func (x *object) conditions(cs []*config.Condition, s eval.Scope, summary string) diags.Diagnostics {
	if len(cs) == 0 {
		return nil
	}
	return x.a.s.Eval.Conditions(cs, s, session.ResourceSubject(x.c.Addr.Instance), summary)
}

// hasConditions reports whether a change has conditions to verify.
func (a *applier) hasConditions(c *plans.ResourceChange) bool {
	cr := c.Addr.Instance.Config()
	m := a.in.Config.Modules[cr.Module]
	if m == nil || m.Resources[cr.Resource] == nil {
		return false
	}
	r := m.Resources[cr.Resource]
	return len(r.Preconditions)+len(r.Postconditions) > 0
}

// store records the object in the state. It stores the dependencies of the current configuration: they decide
// the order of a later destroy, when the block may be gone.
//
// The decoded value stays in memory only if an expression refers to the resource: together, these values are
// larger than the state itself.
func (x *object) store(v cty.Value, status states.Status, identity states.Identity, private []byte) diags.Diagnostics {
	o, err := session.Encode(v, x.rs, session.Encoding{
		Status: status, Identity: identity, Private: private,
		Dependencies: x.a.deps.Stored(x.cr), CreateBeforeDestroy: x.a.forced.Has(x.cr, x.c.Addr.Instance.Resource.Key),
		SkipDestroy: x.r != nil && x.r.Keep,
	})
	if err != nil {
		return diags.FromError("Object cannot be saved", err)
	}
	if !x.a.referenced[x.a.in.Config.Modules[x.cr.Module].Content][x.cr.Resource] {
		o.Value = cty.NilVal // nothing refers to the value
	}
	x.a.record.set(x.c.Addr, x.c.Provider, o.WithPendingActions(x.owed()))
	return nil
}

// sensitivePaths returns a value without marks, and the paths of its sensitive parts.
func sensitivePaths(v cty.Value) (cty.Value, []cty.Path) { return marks.Paths(v, marks.Sensitive) }
