package config

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// A ProviderUse is the provider configuration that something uses, and how its instance
// is chosen.
type ProviderUse struct {
	Config addrs.AbsProviderConfig // without key
	// Key chooses the instance; nil if there is only one.
	Key hcl.Expression
	// Callee is set if Key stands in the providers argument of this module's call: then it
	// is about the instance of the call, else about that of the resource.
	Callee *Module
}

// ProviderUse returns the provider configuration that a local one stands for in m: the
// block itself if m has it, else the one that the calls on the way to m pass or inherit. A default
// configuration that nobody wrote belongs to the root. An empty block in a called module is
// a placeholder, which gives way to a passed one. key is the expression in brackets.
func (m *Module) ProviderUse(local addrs.LocalProviderConfig, key hcl.Expression) ProviderUse {
	p := m.ProviderOf(local.LocalName)
	use := ProviderUse{Key: key}
	for {
		block := m.Providers[local]
		use.Config = addrs.AbsProviderConfig{Module: m.Addr, Provider: p, Alias: local.Alias}
		if m.Parent == nil || block != nil && !block.Empty {
			return use
		}
		next, passed := m.passed(local, p)
		if !passed {
			if block != nil {
				return use
			}
			// Inherited by provider, whatever the parent calls it.
			next.InParent = addrs.LocalProviderConfig{LocalName: m.Parent.localName(p, local.LocalName), Alias: local.Alias}
		}
		if use.Key == nil && next.InParentKey != nil {
			use.Key, use.Callee = next.InParentKey, m
		}
		m, local = m.Parent, next.InParent
	}
}

// ResourceUse returns the provider configuration of a resource block in m.
func (m *Module) ResourceUse(r *Resource) ProviderUse {
	return m.ProviderUse(r.Provider, r.ProviderKey)
}

// ProviderConfig returns the provider configuration that a local one stands for in m; see
// [Module.ProviderUse].
func (m *Module) ProviderConfig(local addrs.LocalProviderConfig) addrs.AbsProviderConfig {
	return m.ProviderUse(local, nil).Config
}

// ResourceProvider returns the provider configuration that a resource block in m uses.
func (m *Module) ResourceProvider(r *Resource) addrs.AbsProviderConfig {
	return m.ProviderConfig(r.Provider)
}

// passed returns the configuration that the caller passes to m for local, one of provider p.
func (m *Module) passed(local addrs.LocalProviderConfig, p addrs.Provider) (PassedProvider, bool) {
	for _, x := range m.Call.Providers {
		if x.InChild.Alias == local.Alias && (x.InChild.LocalName == local.LocalName || m.ProviderOf(x.InChild.LocalName) == p) {
			return x, true
		}
	}
	return PassedProvider{}, false
}

// localName returns m's local name of the provider p, or otherwise.
func (m *Module) localName(p addrs.Provider, otherwise string) string {
	if name, ok := m.byProvider[p]; ok {
		return name
	}
	return otherwise
}
