package config

import (
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

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

// ProviderBlock returns the block of one of m's own provider configurations, or nil.
func (m *Module) ProviderBlock(pc addrs.AbsProviderConfig) *Provider {
	for local, p := range m.Providers {
		if local.Alias == pc.Alias && m.ProviderOf(local.LocalName) == pc.Provider {
			return p
		}
	}
	return nil
}

// IndexProviders prepares the way from a provider to its local name.
func (c *Content) IndexProviders() {
	c.byProvider = make(map[addrs.Provider]string, len(c.RequiredProviders))
	for _, name := range slices.Sorted(maps.Keys(c.RequiredProviders)) {
		source := c.RequiredProviders[name].Source
		if _, ok := c.byProvider[source]; !ok {
			c.byProvider[source] = name
		}
	}
}
