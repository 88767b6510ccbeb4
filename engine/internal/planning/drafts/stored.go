package drafts

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// StoredObjects are the objects of a state, which may change between two calls.
type StoredObjects interface {
	// Has reports whether the state has the resource.
	Has(addrs.AbsResource) bool
	// Object returns an object; nil if there is none.
	Object(addrs.ResourceInstanceObject) *states.Object
}

// StoredValues returns the values of resources from a state.
type StoredValues struct {
	Session *session.Session
	Objects StoredObjects
}

// OpenStored returns a session whose evaluator uses the stored values of resources. It is for expressions
// that are evaluated without a plan: in the console, in the import command, and in import blocks whose
// resource blocks are still to be generated.
func OpenStored(ctx context.Context, in session.Environment, variables map[string]cty.Value, o StoredObjects) *session.Session {
	s := &session.Session{Environment: in}
	values := StoredValues{s, o}
	s.Eval = eval.New(ctx, eval.Phase{
		Program: in.Program, Variables: variables,
		Resource: func(ctx context.Context, a addrs.AbsResource, _ []addrs.InstanceKey) (cty.Value, diags.Diagnostics) {
			return values.Of(ctx, a)
		},
	})
	return s
}

// Of returns a resource's value from the state. If the state has no instance, the value is unknown, since the
// number of instances is unknown. A configured instance that is not in the state is unknown. The same holds for
// an object that cannot be decoded: the next plan reports it.
func (v StoredValues) Of(ctx context.Context, a addrs.AbsResource) (cty.Value, diags.Diagnostics) {
	m := v.Session.Config.Modules[a.Module.Module()]
	r := m.Resources[a.Resource]
	if !v.Objects.Has(a) {
		return cty.DynamicVal, nil
	}
	rs, _, ds := v.Session.Schema(ctx, m.ResourceProvider(r).Provider, r.Addr, r.TypeRange.Ptr())
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	ins, ds := v.Session.Eval.ResourceInstances(a.Module, r)
	if ds.HasErrors() {
		return cty.DynamicVal, nil // count or for_each may depend on values that only a plan has
	}
	vals := make([]cty.Value, len(ins))
	for i := range ins {
		addr := a.Instance(ins[i].Key)
		vals[i] = cty.UnknownVal(rs.Block.ImpliedType())
		if o := v.Objects.Object(addrs.ResourceInstanceObject{Instance: addr}); o != nil && o.AttrsJSON != nil {
			if x, more := v.Session.Stored(addr, rs, o); !more.HasErrors() {
				vals[i] = x
			}
		}
	}
	return v.Session.Eval.CollectResource(r, ins, vals), nil
}
