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

// StoredObjects are those of a state, which may change between two calls.
type StoredObjects interface {
	// Has reports whether there is anything of a resource.
	Has(addrs.AbsResource) bool
	// Object returns an object; nil if there is none.
	Object(addrs.ResourceInstanceObject) *states.Object
}

// StoredValues are the values of resources as a state has them.
type StoredValues struct {
	Session *session.Session
	Objects StoredObjects
}

// OpenStored returns a session whose evaluator gives resources their stored values, for expressions that are evaluated
// without a plan: those of the console, of an import by command, and of import blocks whose resources are yet to be written.
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

// Of returns a resource's value from the state. It is unknown without any instance in the state, since
// nothing tells how many there will be; so is each instance of the configuration that the state does
// not have. An object that cannot be decoded is unknown, too; the next plan reports it.
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
