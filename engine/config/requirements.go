package config

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/states"
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

// Adopt returns a state whose provider addresses fit the configuration. Terraform and OpenTofu write the same
// provider with the hosts of different registries. An address with the host of the other registry gets the
// configuration's own ([Content].Registry), unless the configuration names the address itself. Then only one of
// the two providers is needed, and the next write of the state has the configuration's address.
//
// OpenTofu reads every address of Terraform's registry in this way. In the other direction Adopt is careful,
// because Terraform has nothing of the kind: the configuration must need the provider from its own registry.
// c and s may be nil.
// Source: OpenTofu 1.12.
func (c *Config) Adopt(s *states.State) *states.State {
	if c == nil || s == nil {
		return s
	}
	var needed map[addrs.Provider][]VersionConstraint // for the first foreign address
	own, other := addrs.DefaultRegistryHost, addrs.OpenTofuRegistryHost
	if c.Root.Registry == other {
		own, other = other, own
	}
	return s.WithProviders(func(p addrs.Provider) addrs.Provider {
		if p.Host != other || p.Namespace == addrs.LegacyNamespace {
			return p
		}
		if needed == nil {
			needed = c.ProviderRequirements()
		}
		adopted := addrs.Provider{Host: own, Namespace: p.Namespace, Type: p.Type}
		_, named := needed[p]
		if _, used := needed[adopted]; named || !used && own == addrs.DefaultRegistryHost {
			return p
		}
		return adopted
	})
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
