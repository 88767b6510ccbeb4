package loading

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
)

// passedOn checks the provider configurations that m passes to the modules that it calls.
func (k *providerCheck) passedOn(m *config.Module) {
	for _, name := range slices.Sorted(maps.Keys(m.Calls)) {
		for _, p := range m.Calls[name].Providers {
			x := p.InParent
			if use := m.ProviderUse(x, p.InParentKey); hasProvider(m, x) && p.InParentKey != nil {
				k.instances(m, use, &p.InParentRange, "The call of module \""+name+"\"")
			}
			if !hasProvider(m, x) {
				k.lateErrorf(&p.InParentRange, ProviderNotPresent, "The call of module %q passes the provider configuration %s, which %s neither declares nor receives.", name, x, moduleWords(m))
			}
			if x.Alias != "" {
				continue
			}
			if !configures(m, x) && !requires(m, x.LocalName) {
				k.warnf(&p.InParentRange, undefinedProvider, "The provider %[2]q is not declared in %[1]s; %[3]s is assumed. Add it to required_providers there.",
					moduleWords(m), x.LocalName, m.ProviderOf(x.LocalName).ForDisplay())
			}
			if m.Parent != nil && requires(m, x.LocalName) && !configures(m, x) && !isPassed(m, x) {
				k.warnf(&m.Call.Range, "Missing required provider configuration",
					"%s passes its configuration of provider %q on, but does not receive one explicitly. Add an entry for %q to the providers argument of module %q.",
					m.Addr, x.LocalName, x.LocalName, m.Call.Name)
			}
		}
	}
}

const undefinedProvider = "Reference to undefined provider"

// received checks the provider configurations that m's caller passes to it.
func (k *providerCheck) received(m *config.Module) {
	for _, p := range m.Call.Providers {
		x := p.InChild
		want, got := m.ProviderOf(x.LocalName), m.Parent.ProviderOf(p.InParent.LocalName)
		declared := x.Alias == "" && requires(m, x.LocalName) || wantsAlias(m, x) || m.Providers[x] != nil && !configures(m, x)
		switch {
		case !declared && want == addrs.DefaultProviderIn(m.Registry, x.LocalName):
			k.warnf(&p.InChildRange, undefinedProvider, "The provider %[2]s is not declared in %[1]s; %[3]s is assumed. Add it to required_providers there.", m.Addr, x, want.ForDisplay())
		case !declared:
			k.errorf(&p.InChildRange, undefinedProvider, "%s does not declare a provider configuration %s. Add it to the configuration_aliases of the provider's entry in required_providers there, or leave it out here.", m.Addr, x)
		}
		if want != got {
			k.errorf(&p.InChildRange, "Provider type mismatch", "%s stands for provider %s in %s, but %s in %s is a configuration of %s.",
				x, want.ForDisplay(), m.Addr, p.InParent, moduleWords(m.Parent), got.ForDisplay())
		}
		if configures(m, x) {
			k.errorf(&p.InChildRange, "Cannot override provider configuration", "%s configures %s itself, at %s, so that its caller cannot pass another configuration.", m.Addr, x, m.Providers[x].Range)
		}
	}
}

// aliases checks that m receives every provider configuration that it declares in configuration_aliases. It
// also checks that a module with provider blocks of its own has no count, for_each, enabled or depends_on in
// its call.
func (k *providerCheck) aliases(m *config.Module) {
	for _, name := range slices.Sorted(maps.Keys(m.RequiredProviders)) {
		for _, x := range m.RequiredProviders[name].Aliases {
			if x.Alias != "" && !isPassed(m, x) && !configures(m, x) {
				k.errorf(&m.Call.Range, "Missing required provider configuration",
					"%s needs a configuration of provider %s that it calls %s. Add an entry %s = ... to the providers argument of the call.",
					m.Addr, m.ProviderOf(name).ForDisplay(), x, x)
			}
		}
	}
	multiple, ok := expandedAt(m)
	if !ok {
		return
	}
	for _, p := range m.SortedProviders() {
		if !isPlaceholder(p) {
			k.errorf(&multiple, "Module is incompatible with count, for_each, and depends_on",
				"%s has provider blocks of its own (%s, at %s). The call of such a module, and the calls of its callers, cannot have count, for_each or depends_on. Let the caller pass the configuration instead.",
				m.Addr, p.Addr, p.Range)
			return
		}
	}
}

// expandedAt returns the range of an argument that forbids provider blocks in m: count, for_each, enabled or
// depends_on in the call of m, or in a call further up. The innermost call comes first. The result is false if
// there is no such argument.
func expandedAt(m *config.Module) (hcl.Range, bool) {
	for ; m.Call != nil; m = m.Parent {
		c := m.Call
		if list := c.Expressions(); len(list) > 0 {
			return list[0].Range(), true
		}
		switch {
		case len(c.DependsOn) > 0:
			return c.DependsOn[0].SourceRange(), true
		case c.DependsOn != nil:
			return c.Range, true
		}
	}
	return hcl.Range{}, false
}
