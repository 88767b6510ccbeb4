package config

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// ProviderRequirements returns the providers that the whole tree needs. For each it has all version
// constraints, in the order of the modules. It also has providers without a required_providers entry, and
// built-in providers, which init must not look for.
func (c *Config) ProviderRequirements() map[addrs.Provider][]VersionConstraint {
	out := map[addrs.Provider][]VersionConstraint{}
	seen := map[*Content]bool{}
	for _, m := range c.Order {
		if seen[m.Content] {
			continue
		}
		seen[m.Content] = true
		for _, name := range slices.Sorted(maps.Keys(m.RequiredProviders)) {
			r := m.RequiredProviders[name]
			out[r.Source] = append(out[r.Source], r.Versions...)
		}
		for _, p := range m.SortedProviders() {
			source := m.ProviderOf(p.Addr.LocalName)
			out[source] = append(out[source], p.Versions...)
		}
	}
	return out
}

// SortedProviders returns the provider blocks, sorted by local name and alias.
func (c *Content) SortedProviders() []*Provider {
	return slices.SortedFunc(maps.Values(c.Providers), func(a, b *Provider) int {
		return compareLocal(a.Addr, b.Addr)
	})
}

func compareLocal(a, b addrs.LocalProviderConfig) int {
	return cmp.Or(cmp.Compare(a.LocalName, b.LocalName), cmp.Compare(a.Alias, b.Alias))
}
