package config

import "github.com/lockstep-iac/lockstep/engine/addrs"

// ProviderOf returns the provider that a local name stands for in m.
func (m *Module) ProviderOf(localName string) addrs.Provider {
	if r := m.RequiredProviders[localName]; r != nil {
		return r.Source
	}
	return addrs.DefaultProvider(localName)
}

// ProviderConfig returns the provider configuration that a local one stands for
// in m: the block itself if m has it, else what the calls on the way to m pass
// or inherit. A default configuration that nobody wrote belongs to the root.
func (m *Module) ProviderConfig(local addrs.LocalProviderConfig) addrs.AbsProviderConfig {
	p := m.ProviderOf(local.LocalName)
	for {
		if m.Parent == nil || m.Providers[local] != nil {
			return addrs.AbsProviderConfig{Module: m.Addr, Provider: p, Alias: local.Alias}
		}
		next := local
		passed := false
		for _, x := range m.Call.Providers {
			if x.InChild.Alias == local.Alias && m.ProviderOf(x.InChild.LocalName) == p {
				next, passed = x.InParent, true
				break
			}
		}
		if !passed {
			// Inherited by provider, whatever the parent calls it.
			for name, r := range m.Parent.RequiredProviders {
				if r.Source == p {
					next.LocalName = name
					break
				}
			}
		}
		m, local = m.Parent, next
	}
}

// ResourceProvider returns the provider configuration that a resource block in m uses.
func (m *Module) ResourceProvider(r *Resource) addrs.AbsProviderConfig {
	return m.ProviderConfig(r.Provider)
}
