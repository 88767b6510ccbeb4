package planning

import (
	"context"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// planData plans the instances of a data block, and removes from the prior state instances that are no longer
// declared.
func (x *expanded) planData(ctx context.Context) diags.Diagnostics {
	for _, a := range x.p.prior.Instances(x.p.inState[x.cr]...) {
		if !x.declares(a) && x.p.selected.hasInstance(a) {
			x.p.prior.RemoveInstance(a)
		}
	}
	return x.each(ctx, func(ctx context.Context, b *block, j *job) (cty.Value, diags.Diagnostics) {
		in := &instance{block: b, addr: j.addr, scope: j.scope()}
		return in.planData(ctx)
	})
}

// planData reads a data source now if its configuration is known and no managed resource that it
// depends on has a planned change; otherwise it plans to read it at apply. In refresh-only mode
// planned changes do not count, as nothing is applied.
//
// A data source shows the real infrastructure, in which the changes of this plan have not happened yet.
// Reading it too early gives a value that the apply makes wrong, and everything that refers to the value is
// planned from it. Reading it late hides from people what will happen: all references to it are unknown in
// the plan. So known arguments alone do not justify reading now, and a dependency counts as pending only if
// it really changes.
//
// The outputs of another configuration may be predicted by that configuration's own plan. Outputs that stay
// unknown until it is applied are read at apply.
func (x *instance) planData(ctx context.Context) (cty.Value, diags.Diagnostics) {
	ds := x.preconditions()
	if ds.HasErrors() {
		return cty.NilVal, ds
	}
	config, more := x.p.s.ResourceConfig(x.r, x.rs, x.scope)
	if ds = append(ds, more...); ds.HasErrors() {
		return cty.NilVal, ds
	}
	if marks.Any(config) {
		if ds = append(ds, x.place(x.rs.Block.CheckEphemeral(config), x.addr)...); ds.HasErrors() {
			return cty.NilVal, ds
		}
	}
	plain, sensitive := marks.Paths(config, marks.Sensitive)
	more = x.client.ValidateData(ctx, x.r.Addr.Type, plain)
	if ds = append(ds, x.place(more, x.addr)...); ds.HasErrors() {
		return cty.NilVal, ds
	}
	x.weighData(ctx, config)
	reason := plans.ReasonNone
	switch {
	case !plain.IsWhollyKnown():
		reason = plans.ReasonReadBecauseConfigUnknown
	case x.p.in.Mode != plans.RefreshOnlyMode && x.dependencyPending():
		reason = plans.ReasonReadBecauseDependency
	}
	if reason != plans.ReasonNone {
		planned := session.MarkSensitive(schema.PlannedDataResourceObject(x.rs.Block, plain), x.rs, sensitive)
		return x.readLater(planned, reason), ds
	}
	if _, nested := x.p.nested[x.r]; !nested {
		if val, ok := x.storedData(); ok {
			x.p.affected.recordData(x, true)
			return val, append(ds, x.postconditions(val)...)
		}
	}
	reading := session.Reading{
		Client: x.client, Provider: x.pc, Resource: x.r, Schema: x.rs, Addr: x.object(),
		Config: plain, Sensitive: sensitive, Events: x.p.in.Events, Foreseen: x.pc.Provider.IsBuiltin(),
	}
	if check, ok := x.p.nested[x.r]; ok {
		val, more := x.planNested(ctx, reading, check)
		return val, append(ds, more...)
	}
	val, more := x.p.s.ReadData(ctx, reading)
	if ds = append(ds, more...); more.HasErrors() {
		return cty.NilVal, ds
	}
	if !marks.Plain(val).IsWhollyKnown() {
		return x.readLater(val, plans.ReasonReadBecauseDependency), ds
	}
	if ds = append(ds, x.setData(val)...); ds.HasErrors() {
		return cty.NilVal, ds
	}
	if x.p.affected != nil {
		x.p.affected.recordData(x, false)
	}
	return val, append(ds, x.postconditions(val)...)
}

// setData records the value of a data source in the prior state. Data sources are not managed. They are
// stored for programs that read the state, and for the next plan with -target, which may leave the block out.
func (x *instance) setData(val cty.Value) diags.Diagnostics {
	o, err := session.Encode(val, x.rs, session.Encoding{Status: states.Ready})
	if err != nil {
		return diags.FromError("Provider produced invalid object", err)
	}
	x.p.prior.SetObject(x.object(), x.pc, o)
	return nil
}

// planNested reads a data block in a check block, and plans to read it a second time after everything else is
// applied, because the check is about the objects at that time. If the data cannot be read, the prior state
// gets the known part of its value.
func (x *instance) planNested(ctx context.Context, r session.Reading, check string) (cty.Value, diags.Diagnostics) {
	val, ok, ds := x.p.s.ReadNested(ctx, r, check)
	known := val
	if !ok || !marks.Plain(val).IsWhollyKnown() {
		val = session.MarkSensitive(schema.PlannedDataResourceObject(x.rs.Block, r.Config), x.rs, r.Sensitive)
		known = session.MarkSensitive(schema.UnknownAsNull(schema.PlannedDataResourceObject(x.rs.Block, r.Config)), x.rs, r.Sensitive)
	}
	if ds = append(ds, x.setData(known)...); ds.HasErrors() || x.p.in.Mode == plans.RefreshOnlyMode {
		return known, ds
	}
	x.p.changes.Record(&plans.ResourceChange{
		Addr: x.object(), Provider: x.pc, Reason: plans.ReasonReadBecauseCheckNested, Schema: x.rs,
		Change: plans.Change{Action: plans.Read, Before: x.rs.Block.NullValue(), After: val},
	})
	return known, ds
}

// readLater plans a read at apply. planned is the value as far as it is known. The value of an earlier run is
// removed from the prior state, where it would be taken for the current one.
func (x *instance) readLater(planned cty.Value, reason plans.Reason) cty.Value {
	x.p.prior.SetObject(x.object(), x.pc, nil)
	if x.p.in.Mode == plans.RefreshOnlyMode {
		return planned // nothing will be applied, so waiting would be pointless
	}
	before := x.rs.Block.NullValue()
	x.p.changes.Record(&plans.ResourceChange{
		Addr: x.object(), Provider: x.pc, Reason: reason, Schema: x.rs,
		Change: plans.Change{Action: plans.Read, Before: before, After: planned},
	})
	return planned
}

// dependencyPending reports whether a managed resource with a planned change is a direct dependency of the
// data source, or is named in its depends_on.
//
// Dependencies through local values, outputs of modules or other data sources do not count: such a value is
// either known or unknown. Only depends_on declares an influence that no value shows. Source: Terraform
// 1.11.4, which reads such data while planning.
func (x *instance) dependencyPending() bool {
	check := func(o addrs.Object) bool {
		if o.Res.Mode != addrs.Managed {
			return false
		}
		if o.Module == x.m.Addr { // within the same module, only the same module instance counts
			return x.p.changes.Pending(addrs.AbsResource{Module: x.addr.Module, Resource: o.Res})
		}
		return x.p.changes.PendingAnywhere(o.ConfigResource())
	}
	for _, ref := range x.references() {
		if ref.Object.Kind == addrs.KindResource {
			o := ref.Object
			o.Module = x.m.Addr
			if check(o) {
				return true
			}
		}
	}
	for _, o := range x.p.in.Refs.DependsOn(x.m, x.r) {
		if check(o) {
			return true
		}
	}
	return false
}

// references returns the references in all parts of a block, including conditions: a condition about a
// resource is about its new state.
func (x *instance) references() []refs.Reference {
	out := slices.Clone(x.p.in.Refs.OfBlock(x.r))
	for _, e := range x.r.Repetition.Expressions() {
		out = append(out, x.p.in.Refs.OfExpr(e)...)
	}
	for _, c := range slices.Concat(x.r.Preconditions, x.r.Postconditions) {
		out = append(out, x.p.in.Refs.OfExpr(c.Condition)...)
		out = append(out, x.p.in.Refs.OfExpr(c.ErrorMessage)...)
	}
	return out
}
