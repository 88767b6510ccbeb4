package eval

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// A Phase is the program of a run together with everything that one of its phases decides
// about values. The zero values of its switches are those of planning and applying.
type Phase struct {
	Program
	// Variables are the root module's variables, converted and without marks. A missing
	// one is unknown.
	Variables map[string]cty.Value
	// InvalidVariables are the errors of those variables of the root module whose values do not
	// have the declared type, by name.
	InvalidVariables map[string]diags.Diagnostics
	// Resource returns the value of a resource in this phase: an object, or a tuple or
	// object of them by instance key. If only is not nil, nobody will look at other
	// instances than those, and any value may stand for the others. It may ask a provider; ctx
	// is that of [New].
	Resource func(ctx context.Context, r addrs.AbsResource, only []addrs.InstanceKey) (cty.Value, diags.Diagnostics)
	// CallKeys and ResourceKeys return instance keys that were decided before. nil: count
	// and for_each decide.
	CallKeys     func(addrs.ModuleInstance, string) ([]addrs.InstanceKey, bool)
	ResourceKeys func(addrs.AbsResource) ([]addrs.InstanceKey, bool)
	// Impure keeps values for a process that goes on with this phase; nil: nobody will.
	Impure Impure
	// Applying is the value of terraform.applying.
	Applying bool
	// ConditionsWarn makes conditions that are not met warnings instead of errors.
	ConditionsWarn bool
	// ValidationsWarn makes validation rules that are not met warnings: what is there must not need a valid value to be
	// destroyed.
	ValidationsWarn bool

	// Unexpanded is for a phase in which there are no instances yet. count, for_each and enabled
	// may be unknown, and are checked, but not carried out: every block has one instance, which
	// stands for any number of them. Its count.index, each.key and each.value are unknown, and
	// so is the value of a repeated block.
	Unexpanded bool
	// OpaqueModules checks the values that modules take and return where they are given, and
	// passes none of them on: variables and outputs of modules are unknown in all references
	// to them. Errors that depend on the values of a call are thus left to a later
	// phase: the call may turn out to have no instances.
	OpaqueModules bool
	// AssertionsUnevaluated leaves the results of check blocks to a later phase. Their references
	// must be valid, and their messages are evaluated.
	AssertionsUnevaluated bool
}

// keysOfCall returns the instance keys of a module call that were decided before; nil if none were.
func (p *Phase) keysOfCall(in addrs.ModuleInstance, name string) *decided {
	if p.CallKeys == nil {
		return nil
	}
	if keys, ok := p.CallKeys(in, name); ok {
		return &decided{keys}
	}
	return nil
}

// keysOfResource returns the instance keys of a resource that were decided before; nil if none were.
func (p *Phase) keysOfResource(r addrs.AbsResource) *decided {
	if p.ResourceKeys == nil {
		return nil
	}
	if keys, ok := p.ResourceKeys(r); ok {
		return &decided{keys}
	}
	return nil
}

// decided are the instance keys of a block, possibly none, which an earlier phase decided.
type decided struct{ keys []addrs.InstanceKey }
