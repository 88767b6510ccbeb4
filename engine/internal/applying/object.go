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

// An object is the applying of one change.
type object struct {
	a      *applier
	c      *plans.ResourceChange
	r      *config.Resource // nil if the configuration has no such block
	cr     addrs.ConfigResource
	rs     *schema.Schema
	client provider.Client
	// interrupted: an earlier process has asked for this change, and nobody knows with which outcome.
	interrupted bool
}

// of returns a change with its block.
func (a *applier) of(c *plans.ResourceChange) *object {
	x := &object{a: a, c: c, cr: c.Addr.Instance.Config()}
	if m := a.in.Config.Modules[x.cr.Module]; m != nil {
		x.r = m.Resources[x.cr.Resource]
	}
	return x
}

// open returns a change with its block, schema and provider. To forget an object needs none of them,
// and works where the provider cannot be installed any more: often that is the reason to forget it.
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

// address is the address that diagnostics carry: that of the instance, also for a deposed object.
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

// meta returns the module's provider_meta for the provider; cty.NilVal if there is none. Its errors
// were found while planning.
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

// hasConditions reports whether a change has something to verify.
func (a *applier) hasConditions(c *plans.ResourceChange) bool {
	cr := c.Addr.Instance.Config()
	m := a.in.Config.Modules[cr.Module]
	if m == nil || m.Resources[cr.Resource] == nil {
		return false
	}
	r := m.Resources[cr.Resource]
	return len(r.Preconditions)+len(r.Postconditions) > 0
}

// store records the object in the state. The dependencies stored with it are those of the present
// configuration: they decide the order in which it is destroyed one day, when the block may be gone.
//
// The decoded value is kept in memory only where an expression refers to the resource: together,
// these values are larger than the state itself.
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
		o.Value = cty.NilVal // nobody is going to ask for it
	}
	x.a.record.set(x.c.Addr, x.c.Provider, o.WithPendingActions(x.owed()))
	return nil
}

// sensitivePaths returns a value without marks, and the paths of its sensitive parts.
func sensitivePaths(v cty.Value) (cty.Value, []cty.Path) { return marks.Paths(v, marks.Sensitive) }
