package loading

import (
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
)

// requires reports whether c has a required_providers entry with the local name.
func requires(c *config.Module, name string) bool {
	r := c.RequiredProviders[name]
	return r != nil && !r.Implied
}

// requiredAs returns the local name of the required_providers entry for a provider; false if there is none.
func requiredAs(c *config.Module, p addrs.Provider) (string, bool) {
	for _, name := range slices.Sorted(maps.Keys(c.RequiredProviders)) {
		if r := c.RequiredProviders[name]; r.Source == p && !r.Implied {
			return name, true
		}
	}
	return "", false
}

// wantsAlias reports whether configuration_aliases in c has the configuration.
func wantsAlias(c *config.Module, x addrs.LocalProviderConfig) bool {
	r := c.RequiredProviders[x.LocalName]
	return r != nil && slices.Contains(r.Aliases, x)
}

// isPlaceholder reports whether a provider block has no arguments, so that it only names a configuration that
// the caller may pass.
func isPlaceholder(p *config.Provider) bool { return p.Empty && len(p.Versions) == 0 }

// configures reports whether c has a block for x that is more than a placeholder. A placeholder is a provider
// block without arguments.
func configures(c *config.Module, x addrs.LocalProviderConfig) bool {
	p := c.Providers[x]
	return p != nil && !isPlaceholder(p)
}

// isPassed reports whether m's caller names x in its providers argument.
func isPassed(m *config.Module, x addrs.LocalProviderConfig) bool {
	return m.Call != nil && slices.ContainsFunc(m.Call.Providers, func(p config.PassedProvider) bool { return p.InChild == x })
}

// hasProvider reports whether m has the provider configuration x: declared, passed or, for a default
// configuration, inherited.
func hasProvider(m *config.Module, x addrs.LocalProviderConfig) bool {
	return x.Alias == "" || m.Providers[x] != nil || isPassed(m, x) || m.Parent != nil && wantsAlias(m, x)
}

// moduleWords returns the name of a module for sentences.
func moduleWords(m *config.Module) string {
	if m.Addr.IsRoot() {
		return "the root module"
	}
	return m.Addr.String()
}
