package applying

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// read reads a data source that could not be read while planning, because its configuration was unknown, or
// because a dependency was about to change. The step comes after all such changes, and before everything that
// refers to the data source.
//
// The answer is not compared with the plan: every planned value that depends on the data was unknown, so the
// answer cannot contradict it. Source: docs/resource-instance-change-lifecycle.md in Terraform's repository.
func (x *object) read(ctx context.Context) diags.Diagnostics {
	scope, ds := x.a.values.scope(x.c.Addr.Instance, x.r)
	if ds = append(ds, x.a.values.openNeeded(ctx, x.c.Addr.Instance.Config())...); ds.HasErrors() {
		return ds
	}
	if ds = append(ds, x.conditions(x.r.Preconditions, scope, "Resource precondition failed")...); ds.HasErrors() {
		return ds
	}
	config, more := x.a.s.ResourceConfig(x.r, x.rs, scope)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	plain, sensitive := sensitivePaths(config)
	reading := session.Reading{
		Client: x.client, Provider: x.c.Provider, Resource: x.r, Schema: x.rs, Addr: x.c.Addr,
		Config: plain, Sensitive: sensitive, Events: x.a.in.Events,
	}
	var v cty.Value
	if check, nested := x.a.nested[x.r]; nested {
		var ok bool
		if v, ok, more = x.a.s.ReadNested(ctx, reading, check); !ok {
			return append(ds, more...) // the result in the plan stays
		}
	} else {
		v, more = x.a.s.ReadData(ctx, reading)
	}
	if ds = append(ds, more...); more.HasErrors() {
		return ds
	}
	o, err := session.Encode(v, x.rs, session.Encoding{Status: states.Ready})
	if err != nil {
		return append(ds, diags.FromError("Object cannot be saved", err)...)
	}
	x.a.record.set(x.c.Addr, x.c.Provider, o)
	if x.a.in.Plan.Affected != nil && x.a.in.Plan.Affected.Data {
		x.a.digests.add(ctx, x, config)
	}
	scope.Self = v
	return append(ds, x.conditions(x.r.Postconditions, scope, "Resource postcondition failed")...)
}

// verify evaluates the conditions of an object that does not change. They may refer to objects that change,
// so a condition can fail without a change of its own object.
func (x *object) verify() diags.Diagnostics {
	scope, ds := x.a.values.scope(x.c.Addr.Instance, x.r)
	if ds.HasErrors() {
		return ds
	}
	ds = append(ds, x.conditions(x.r.Preconditions, scope, "Resource precondition failed")...)
	o := x.a.record.object(x.c.Addr)
	if o == nil {
		return ds
	}
	v, more := x.a.s.Stored(x.c.Addr.Instance, x.rs, o)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	scope.Self = v
	return append(ds, x.conditions(x.r.Postconditions, scope, "Resource postcondition failed")...)
}
