package config

import "github.com/lockstep-iac/lockstep/engine/addrs"

// ProviderOf returns the provider that a local name stands for in m.
func (m *Module) ProviderOf(localName string) addrs.Provider { return m.providerOf(localName) }

func (c *Content) providerOf(localName string) addrs.Provider {
	if r := c.RequiredProviders[localName]; r != nil {
		return r.Source
	}
	return addrs.DefaultProvider(localName)
}

// Meta returns the provider_meta block that c has for a provider, or nil.
func (c *Content) Meta(p addrs.Provider) *ProviderMeta {
	for name, block := range c.ProviderMeta {
		if c.providerOf(name) == p {
			return block
		}
	}
	return nil
}

// MetaFor returns the provider_meta block that goes with a resource of c, or nil.
func (c *Content) MetaFor(r *Resource) *ProviderMeta {
	if len(c.ProviderMeta) == 0 {
		return nil
	}
	return c.Meta(c.providerOf(r.Provider.LocalName))
}

// ProviderConfig returns the provider configuration that a local one stands for in m; see
// [Module.ProviderUse].
func (m *Module) ProviderConfig(local addrs.LocalProviderConfig) addrs.AbsProviderConfig {
	return m.ProviderUse(local, nil).Config
}

// passed returns what the caller passes to m for local, which is one of provider p.
func (m *Module) passed(local addrs.LocalProviderConfig, p addrs.Provider) (PassedProvider, bool) {
	for _, x := range m.Call.Providers {
		if x.InChild.Alias == local.Alias && (x.InChild.LocalName == local.LocalName || m.ProviderOf(x.InChild.LocalName) == p) {
			return x, true
		}
	}
	return PassedProvider{}, false
}

// ProviderBlock returns the block of one of m's own provider configurations, or nil.
func (m *Module) ProviderBlock(pc addrs.AbsProviderConfig) *Provider {
	for local, p := range m.Providers {
		if local.Alias == pc.Alias && m.ProviderOf(local.LocalName) == pc.Provider {
			return p
		}
	}
	return nil
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
