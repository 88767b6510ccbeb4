package config

import (
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// ProviderOf returns the provider with the given local name in m.
func (m *Module) ProviderOf(localName string) addrs.Provider { return m.providerOf(localName) }

func (c *Content) providerOf(localName string) addrs.Provider {
	if r := c.RequiredProviders[localName]; r != nil {
		return r.Source
	}
	return addrs.DefaultProviderIn(c.Registry, localName)
}

// Meta returns the provider_meta block of c for a provider, or nil.
func (c *Content) Meta(p addrs.Provider) *ProviderMeta {
	for name, block := range c.ProviderMeta {
		if c.providerOf(name) == p {
			return block
		}
	}
	return nil
}

// MetaFor returns the provider_meta block for the provider of a resource in c, or nil.
func (c *Content) MetaFor(r *Resource) *ProviderMeta {
	if len(c.ProviderMeta) == 0 {
		return nil
	}
	return c.Meta(c.providerOf(r.Provider.LocalName))
}

// ProviderBlock returns the block of a provider configuration in m itself, or nil.
func (m *Module) ProviderBlock(pc addrs.AbsProviderConfig) *Provider {
	for local, p := range m.Providers {
		if local.Alias == pc.Alias && m.ProviderOf(local.LocalName) == pc.Provider {
			return p
		}
	}
	return nil
}

// IndexProviders builds the index from providers to local names. It is called once c is complete.
func (c *Content) IndexProviders() {
	c.byProvider = make(map[addrs.Provider]string, len(c.RequiredProviders))
	for _, name := range slices.Sorted(maps.Keys(c.RequiredProviders)) {
		source := c.RequiredProviders[name].Source
		if _, ok := c.byProvider[source]; !ok {
			c.byProvider[source] = name
		}
	}
}
