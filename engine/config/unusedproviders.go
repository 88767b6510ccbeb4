package config

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// UnusedProviders returns the provider blocks that no other block of the configuration uses. It leaves out the
// provider configurations in others, which something else uses. Terraform ignores unused blocks, which remain
// after their resources were removed. Passing a configuration to a module does not count as a use.
//
// Source: Terraform's PruneProviderTransformer.
func (c *Config) UnusedProviders(others []addrs.AbsProviderConfig) map[*Provider]bool {
	used := map[*Provider]bool{}
	use := func(pc addrs.AbsProviderConfig) {
		if m := c.Modules[pc.Module]; m != nil {
			used[m.ProviderBlock(pc)] = true
		}
	}
	for _, pc := range others {
		use(pc)
	}
	for _, m := range c.Order {
		if len(m.Resources)+len(m.Imports)+len(m.Lists)+len(m.Actions) == 0 {
			continue
		}
		seen := map[addrs.LocalProviderConfig]bool{}
		local := func(p addrs.LocalProviderConfig) {
			if !seen[p] {
				seen[p] = true
				use(m.ProviderConfig(p))
			}
		}
		for _, r := range m.Resources {
			local(r.Provider)
		}
		for _, l := range m.Lists {
			local(l.Provider)
		}
		for _, a := range m.Actions {
			local(a.Provider)
		}
		for _, i := range m.Imports {
			if i.Provider != nil {
				local(*i.Provider)
			} else if i.Resource.Module.IsRoot() {
				local(addrs.LocalProviderConfig{LocalName: i.Resource.Resource.ImpliedProvider()})
			}
		}
	}
	unused := map[*Provider]bool{}
	for _, m := range c.Order {
		for _, p := range m.Providers {
			if !used[p] {
				unused[p] = true
			}
		}
	}
	return unused
}
