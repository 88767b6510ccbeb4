package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// ProviderRequirements returns the providers that the whole tree needs, with all the
// version constraints put on each, in the order of the modules. Providers that are
// only used, without a required_providers entry, are in it too, and so are the
// built-in ones, which init must not look for.
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
		for _, p := range m.sortedProviders() {
			source := m.ProviderOf(p.Addr.LocalName)
			out[source] = append(out[source], p.Versions...)
		}
	}
	return out
}

// sortedProviders returns the provider blocks by local name and alias.
func (c *Content) sortedProviders() []*Provider {
	return slices.SortedFunc(maps.Values(c.Providers), func(a, b *Provider) int {
		return compareLocal(a.Addr, b.Addr)
	})
}

// implied adds the providers that are used without being required. What a local name
// means then follows from the name alone.
func (r *reader) implied() {
	use := func(name string, at hcl.Range) {
		if name == "" || checkLocalName(name) != "" || r.c.RequiredProviders[name] != nil {
			return
		}
		r.c.RequiredProviders[name] = &RequiredProvider{
			LocalName: name, Source: addrs.DefaultProvider(name), Implied: true, Range: at,
		}
	}
	for _, p := range r.c.sortedProviders() {
		use(p.Addr.LocalName, p.Range)
	}
	for _, addr := range slices.SortedFunc(maps.Keys(r.c.Resources), addrs.Resource.Compare) {
		x := r.c.Resources[addr]
		use(x.Provider.LocalName, x.Range)
	}
	for _, m := range r.c.Imports {
		switch {
		case m.Provider != nil:
			use(m.Provider.LocalName, m.Range)
		case m.Resource.Module.IsRoot() && r.c.Resources[m.Resource.Resource] == nil: // its block may yet be written
			use(m.Resource.Resource.ImpliedProvider(), m.Range)
		}
	}
}

// indexProviders prepares the way from a provider to its local name.
func (c *Content) indexProviders() {
	c.byProvider = make(map[addrs.Provider]string, len(c.RequiredProviders))
	for _, name := range slices.Sorted(maps.Keys(c.RequiredProviders)) {
		source := c.RequiredProviders[name].Source
		if _, ok := c.byProvider[source]; !ok {
			c.byProvider[source] = name
		}
	}
}
