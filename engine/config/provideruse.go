package config

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// A ProviderUse is a reference to a provider configuration and to one of its instances.
type ProviderUse struct {
	Config addrs.AbsProviderConfig // without key
	// Key is the expression that selects the instance; nil if there is only one.
	Key hcl.Expression
	// Callee is the called module if Key is an expression in the providers argument of a module call. Key then
	// depends on the instance of this call. If Callee is nil, Key depends on the instance of the resource.
	Callee *Module
}

// ProviderUse returns the provider configuration with the given local name in m. If m itself has a block for
// this name, that is the configuration. Otherwise it is the one that the calling modules pass to m, or that m
// inherits. A default configuration without a block belongs to the root module. An empty block in a called
// module is a placeholder: a passed configuration replaces it. key is the expression in brackets.
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
			// The module inherits the caller's default configuration of the same provider. The caller may have
			// another local name for this provider.
			next.InParent = addrs.LocalProviderConfig{LocalName: m.Parent.localName(p, local.LocalName), Alias: local.Alias}
		}
		if use.Key == nil && next.InParentKey != nil {
			use.Key, use.Callee = next.InParentKey, m
		}
		m, local = m.Parent, next.InParent
	}
}

// ResourceUse returns the provider configuration that a resource block in m uses, with the expression that
// selects its instance.
func (m *Module) ResourceUse(r *Resource) ProviderUse {
	return m.ProviderUse(r.Provider, r.ProviderKey)
}

// ProviderConfig returns the provider configuration with the given local name in m; see [Module.ProviderUse].
func (m *Module) ProviderConfig(local addrs.LocalProviderConfig) addrs.AbsProviderConfig {
	return m.ProviderUse(local, nil).Config
}

// ResourceProvider returns the provider configuration that a resource block in m uses.
func (m *Module) ResourceProvider(r *Resource) addrs.AbsProviderConfig {
	return m.ProviderConfig(r.Provider)
}

// passed returns the provider configuration that the caller passes to m under the given local name; false if it
// passes none. p is the provider that this name means in m.
func (m *Module) passed(local addrs.LocalProviderConfig, p addrs.Provider) (PassedProvider, bool) {
	for _, x := range m.Call.Providers {
		if x.InChild.Alias == local.Alias && (x.InChild.LocalName == local.LocalName || m.ProviderOf(x.InChild.LocalName) == p) {
			return x, true
		}
	}
	return PassedProvider{}, false
}

// localName returns m's local name for the provider p. If m has none, it returns the second argument.
func (m *Module) localName(p addrs.Provider, otherwise string) string {
	if name, ok := m.byProvider[p]; ok {
		return name
	}
	return otherwise
}
