package session

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/marks"
)

// InstanceProvider returns the provider configuration for a resource instance whose scope is given. If the
// configuration has for_each, it returns one instance of it.
func (s *Session) InstanceProvider(use config.ProviderUse, scope eval.Scope) (addrs.AbsProviderConfig, diags.Diagnostics) {
	if use.Key == nil {
		return use.Config, nil
	}
	if use.Callee != nil {
		var ds diags.Diagnostics
		if scope, ds = s.callScope(scope.Module, use.Callee); ds.HasErrors() {
			return use.Config, ds
		}
	}
	v, ds := s.Eval.Expr(use.Key, eval.Scope{Module: scope.Module, Instance: scope.Instance})
	if ds.HasErrors() {
		return use.Config, ds
	}
	pc := use.Config
	var more diags.Diagnostics
	if pc.Key, more = providerKey(use.Key, v); more.HasErrors() {
		return use.Config, append(ds, more...)
	}
	if !s.HasProvider(pc) {
		return use.Config, append(ds, badProviderKey(use.Key, "The provider configuration %s has no instance %s: its for_each has no such key.", use.Config, pc.Key)...)
	}
	return pc, ds
}

// callScope returns the scope in which the call of a module is evaluated. callee is the called module. in is
// an instance of callee, or a module instance inside one.
func (s *Session) callScope(in addrs.ModuleInstance, callee *config.Module) (eval.Scope, diags.Diagnostics) {
	for in.Module() != callee.Addr {
		in = in.Parent()
	}
	parent, name, key := in.Call()
	ins, ds := s.Eval.CallInstances(parent, name)
	for i := range ins {
		if ins[i].Key == key {
			return eval.Scope{Module: parent, Instance: &ins[i]}, ds
		}
	}
	return eval.Scope{Module: parent}, ds
}

// providerKey returns a value as the instance key of a provider configuration.
func providerKey(x hcl.Expression, v cty.Value) (addrs.InstanceKey, diags.Diagnostics) {
	switch {
	case marks.Has(v, marks.Sensitive):
		return addrs.NoKey, badProviderKey(x, "The key of a provider instance is sensitive, or derived from a sensitive value. It cannot be used, because it would show.")
	case marks.Has(v, marks.Ephemeral):
		return addrs.NoKey, badProviderKey(x, "The key of a provider instance is ephemeral. It must be the same in every run.")
	}
	v, _ = v.Unmark()
	switch {
	case v.IsNull():
		return addrs.NoKey, badProviderKey(x, "The key of a provider instance must not be null.")
	case !v.IsKnown():
		return addrs.NoKey, badProviderKey(x, "The key of a provider instance depends on values that cannot be determined until apply, so the instance to plan with is not known.")
	}
	str, err := convert.Convert(v, cty.String)
	if err != nil {
		return addrs.NoKey, badProviderKey(x, "The key of a provider instance is not suitable: %s.", err)
	}
	return addrs.StringKey(str.AsString()), nil
}

func badProviderKey(x hcl.Expression, detail string, args ...any) diags.Diagnostics {
	return diags.Errorf(x.Range().Ptr(), "Invalid provider instance key", detail, args...)
}

// providerInstance returns one of the instances of a provider configuration with for_each; false if it does not
// exist.
func (s *Session) providerInstance(pc addrs.AbsProviderConfig) (*eval.Instance, bool) {
	s.mu.Lock()
	all, done := s.instances[pc.Config()]
	s.mu.Unlock()
	if !done {
		all = s.providerInstances(pc)
		s.mu.Lock()
		if s.instances == nil {
			s.instances = map[addrs.AbsProviderConfig]map[addrs.InstanceKey]*eval.Instance{}
		}
		s.instances[pc.Config()] = all
		s.mu.Unlock()
	}
	in, ok := all[pc.Key]
	return in, ok
}

// providerInstances evaluates for_each of a provider configuration. Its errors are kept in
// [Session.Diagnostics].
func (s *Session) providerInstances(pc addrs.AbsProviderConfig) map[addrs.InstanceKey]*eval.Instance {
	m := s.Config.Modules[pc.Module]
	in, ds := s.Eval.Modules(m)
	if len(in) == 0 {
		return nil
	}
	list, more := s.Eval.ForEach(m.ProviderBlock(pc).ForEach, eval.Scope{Module: in[0]})
	ds = append(ds, more...)
	s.mu.Lock()
	s.found = append(s.found, ds.Unreported()...)
	s.mu.Unlock()
	out := make(map[addrs.InstanceKey]*eval.Instance, len(list))
	for i := range list {
		out[list[i].Key] = &list[i]
	}
	return out
}
