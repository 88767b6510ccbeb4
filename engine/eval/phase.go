package eval

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// A Phase is the program of a run together with everything that depends on the phase. The zero values of its
// switches are right for planning and applying.
type Phase struct {
	Program
	// Variables are the values of the root module's variables, converted and without marks. A missing
	// variable is unknown.
	Variables map[string]cty.Value
	// InvalidVariables are the errors of root module variables whose values do not have the declared type, by
	// name.
	InvalidVariables map[string]diags.Diagnostics
	// Resource returns the value of a resource in this phase: an object, or a tuple or object of objects by
	// instance key. If only is not nil, the caller uses just the instances with these keys; the others may have
	// any value. The function may call a provider. ctx is the context of [New].
	Resource func(ctx context.Context, r addrs.AbsResource, only []addrs.InstanceKey) (cty.Value, diags.Diagnostics)
	// Count returns the instance keys in the value that Resource returns for a resource; false if they are not
	// known. It serves references to the number of instances alone, which need no values. It may be nil.
	Count func(r addrs.AbsResource) ([]addrs.InstanceKey, bool)
	// CallKeys and ResourceKeys return the instance keys that an earlier phase decided. If they are nil,
	// count and for_each decide.
	CallKeys     func(addrs.ModuleInstance, string) ([]addrs.InstanceKey, bool)
	ResourceKeys func(addrs.AbsResource) ([]addrs.InstanceKey, bool)
	// Impure keeps values for another process that will continue this phase. It is nil if no process will.
	Impure Impure
	// Applying is the value of terraform.applying.
	Applying bool
	// ConditionsWarn makes the errors of failed conditions warnings.
	ConditionsWarn bool
	// ValidationsWarn makes the errors of failed validation rules warnings: destroying objects must not need
	// valid values.
	ValidationsWarn bool

	// Unexpanded is for a phase in which there are no instances yet. count, for_each and enabled are checked
	// but not expanded, and may be unknown. Every block has one instance, which represents any number. Its
	// count.index, each.key and each.value are unknown, and so is the value of a repeated block.
	Unexpanded bool
	// OpaqueModules separates modules from each other. The values that modules take and return are checked
	// where they are given, but not passed on: references to variables and outputs of modules are unknown. So
	// errors that depend on the values of a call are left to a later phase, since the call may turn out to
	// have no instances.
	OpaqueModules bool
	// AssertionsUnevaluated leaves the results of check blocks to a later phase. Their references are still
	// checked, and their messages evaluated.
	AssertionsUnevaluated bool
}

// keysOfCall returns the instance keys that an earlier phase decided for a module call; nil if none did.
func (p *Phase) keysOfCall(in addrs.ModuleInstance, name string) *decided {
	if p.CallKeys == nil {
		return nil
	}
	if keys, ok := p.CallKeys(in, name); ok {
		return &decided{keys}
	}
	return nil
}

// keysOfResource returns the instance keys that an earlier phase decided for a resource; nil if none did.
func (p *Phase) keysOfResource(r addrs.AbsResource) *decided {
	if p.ResourceKeys == nil {
		return nil
	}
	if keys, ok := p.ResourceKeys(r); ok {
		return &decided{keys}
	}
	return nil
}

// decided has the instance keys that an earlier phase decided for a block. It may have no keys: the block then
// has no instances.
type decided struct{ keys []addrs.InstanceKey }
