package applying

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// read reads a data source that could not be read while planning: its configuration was not known
// then, or it depends on something that was to change. The order of the steps has it read after all
// such changes, and before everything that refers to it.
//
// The answer is not held against the plan: the planned value was unknown wherever the data had a
// say, so there is nothing in it that could be broken. Source: docs/resource-instance-change-lifecycle.md
// in Terraform's repository.
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
	scope.Self = v
	return append(ds, x.conditions(x.r.Postconditions, scope, "Resource postcondition failed")...)
}

// verify evaluates the conditions of an object that does not change. They may refer to others that
// do: an object can begin to break its promises without a change of its own.
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
