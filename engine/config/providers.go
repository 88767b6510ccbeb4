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
// or inherit. A default configuration that nobody wrote belongs to the root. An
// empty block in a called module is a placeholder, which gives way to what is passed.
func (m *Module) ProviderConfig(local addrs.LocalProviderConfig) addrs.AbsProviderConfig {
	p := m.ProviderOf(local.LocalName)
	for {
		block := m.Providers[local]
		if m.Parent == nil || block != nil && !block.empty {
			return addrs.AbsProviderConfig{Module: m.Addr, Provider: p, Alias: local.Alias}
		}
		next, passed := m.passed(local, p)
		if !passed {
			if block != nil {
				return addrs.AbsProviderConfig{Module: m.Addr, Provider: p, Alias: local.Alias}
			}
			// Inherited by provider, whatever the parent calls it.
			next.LocalName = m.Parent.localName(p, local.LocalName)
		}
		m, local = m.Parent, next
	}
}

// passed returns the caller's configuration that is passed to m for local, which is
// one of provider p.
func (m *Module) passed(local addrs.LocalProviderConfig, p addrs.Provider) (addrs.LocalProviderConfig, bool) {
	for _, x := range m.Call.Providers {
		if x.InChild.Alias == local.Alias && (x.InChild.LocalName == local.LocalName || m.ProviderOf(x.InChild.LocalName) == p) {
			return x.InParent, true
		}
	}
	return local, false
}

// localName returns what m calls the provider p, or otherwise.
func (m *Module) localName(p addrs.Provider, otherwise string) string {
	if name, ok := m.byProvider[p]; ok {
		return name
	}
	return otherwise
}

// ResourceProvider returns the provider configuration that a resource block in m uses.
func (m *Module) ResourceProvider(r *Resource) addrs.AbsProviderConfig {
	return m.ProviderConfig(r.Provider)
}
