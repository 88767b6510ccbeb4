package config

import (
	"cmp"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// A providerCheck compares what callers pass to modules with what these declare and
// use. Its rules are those documented at
// https://developer.hashicorp.com/terraform/language/modules/develop/providers;
// summaries and places are the stock tool's.
type providerCheck struct {
	files map[string]*hcl.File
	seen  map[*Content]bool
	diags hcl.Diagnostics
}

func (c *Config) checkProviders() hcl.Diagnostics {
	k := &providerCheck{files: c.Files, seen: map[*Content]bool{}}
	for _, m := range c.Order {
		if m.broken {
			continue // it may lack declarations that could not be read
		}
		if !k.seen[m.Content] {
			k.seen[m.Content] = true
			k.content(m)
		}
		k.passedOn(m)
		k.uses(m)
		if m.Parent != nil {
			k.received(m)
			k.aliases(m)
		}
	}
	return k.diags
}

func (k *providerCheck) errorf(at *hcl.Range, summary, detail string, args ...any) {
	k.diags = append(k.diags, problem(at, summary, detail, args...))
}

func (k *providerCheck) lateErrorf(at *hcl.Range, summary, detail string, args ...any) {
	k.diags = append(k.diags, diags.MarkLate(problem(at, summary, detail, args...)))
}

func (k *providerCheck) warnf(at *hcl.Range, summary, detail string, args ...any) {
	k.diags = append(k.diags, warning(at, summary, detail, args...))
}

// content checks what does not depend on the caller.
func (k *providerCheck) content(m *Module) {
	for _, addr := range slices.SortedFunc(maps.Keys(m.Resources), addrs.Resource.Compare) {
		x := m.Resources[addr]
		source := m.ProviderOf(x.Provider.LocalName)
		if x.ProviderRange != nil || m.requires(x.Provider.LocalName) || source != addrs.DefaultProvider(x.Provider.LocalName) {
			continue
		}
		if other, ok := m.requiredAs(source); ok {
			k.warnf(&x.Range, "Duplicate required provider",
				"%s belongs to provider %s by its type, which required_providers calls %q. Give the resource the argument provider = %s, or change the local name to %q.",
				addr, source.ForDisplay(), other, other, x.Provider.LocalName)
		}
	}
	k.keysTogether(m)
	if m.Parent == nil {
		return
	}
	for _, p := range m.sortedProviders() {
		if p.isPlaceholder() {
			k.warnf(&p.Range, "Redundant empty provider block",
				"An empty provider block in a called module once said that the caller passes a configuration. Declare %s in required_providers (with configuration_aliases, if it has an alias) and remove the block.", p.Addr)
		}
	}
}

// requires reports whether a required_providers entry has the local name.
func (c *Content) requires(name string) bool {
	r := c.RequiredProviders[name]
	return r != nil && !r.Implied
}

// requiredAs returns the local name of the required_providers entry for a provider.
func (c *Content) requiredAs(p addrs.Provider) (string, bool) {
	for _, name := range slices.Sorted(maps.Keys(c.RequiredProviders)) {
		if r := c.RequiredProviders[name]; r.Source == p && !r.Implied {
			return name, true
		}
	}
	return "", false
}

// wantsAlias reports whether configuration_aliases has the configuration.
func (c *Content) wantsAlias(x addrs.LocalProviderConfig) bool {
	r := c.RequiredProviders[x.LocalName]
	return r != nil && slices.Contains(r.Aliases, x)
}

// isPlaceholder reports whether a block configures nothing.
func (p *Provider) isPlaceholder() bool { return p.empty && len(p.Versions) == 0 }

// configures reports whether a module has a block for x that says something.
func (c *Content) configures(x addrs.LocalProviderConfig) bool {
	p := c.Providers[x]
	return p != nil && !p.isPlaceholder()
}

// isPassed reports whether m's caller names x in its providers argument.
func (m *Module) isPassed(x addrs.LocalProviderConfig) bool {
	return m.Call != nil && slices.ContainsFunc(m.Call.Providers, func(p PassedProvider) bool { return p.InChild == x })
}

// has reports whether the configuration x is there in m: declared, passed or, for
// default configurations, inherited.
func (m *Module) has(x addrs.LocalProviderConfig) bool {
	return x.Alias == "" || m.Providers[x] != nil || m.isPassed(x) || m.Parent != nil && m.wantsAlias(x)
}

// where names a module in sentences.
func (m *Module) where() string {
	if m.Addr.IsRoot() {
		return "the root module"
	}
	return m.Addr.String()
}

const notPresent = "Provider configuration not present"

// uses checks that the configurations which blocks of m name exist.
func (k *providerCheck) uses(m *Module) {
	check := func(x addrs.LocalProviderConfig, at *hcl.Range, user string) {
		if !m.has(x) {
			k.lateErrorf(at, notPresent, "%s uses the provider configuration %s, which %s neither declares nor receives. Add a provider block with alias = %q, or name another configuration.",
				user, x, m.where(), x.Alias)
		}
	}
	for _, addr := range slices.SortedFunc(maps.Keys(m.Resources), addrs.Resource.Compare) {
		if x := m.Resources[addr]; x.ProviderRange != nil {
			check(x.Provider, x.ProviderRange, addr.String())
		}
		x := m.Resources[addr]
		place := x.ProviderRange
		if place == nil {
			place = &x.Range
		}
		if m.has(x.Provider) {
			k.instances(m, m.ResourceUse(x), place, addr.String())
		}
	}
	for _, i := range m.Imports {
		if i.Provider != nil {
			check(*i.Provider, &i.Range, "The import block")
		}
	}
}

// passedOn checks the configurations that m passes to the modules it calls.
func (k *providerCheck) passedOn(m *Module) {
	for _, name := range slices.Sorted(maps.Keys(m.Calls)) {
		for _, p := range m.Calls[name].Providers {
			x := p.InParent
			if use := m.ProviderUse(x, p.InParentKey); m.has(x) && p.InParentKey != nil {
				k.instances(m, use, &p.InParentRange, "The call of module \""+name+"\"")
			}
			if !m.has(x) {
				k.lateErrorf(&p.InParentRange, notPresent, "The call of module %q passes the provider configuration %s, which %s neither declares nor receives.", name, x, m.where())
			}
			if x.Alias != "" {
				continue
			}
			if !m.configures(x) && !m.requires(x.LocalName) {
				k.warnf(&p.InParentRange, undefined, "Nothing in %s says which provider %q is, so that it is taken for %s. Add it to required_providers there.",
					m.where(), x.LocalName, m.ProviderOf(x.LocalName).ForDisplay())
			}
			if m.Parent != nil && m.requires(x.LocalName) && !m.configures(x) && !m.isPassed(x) {
				k.warnf(&m.Call.Range, "Missing required provider configuration",
					"%s passes its configuration of provider %q on, but does not receive one explicitly. Add an entry for %q to the providers argument of module %q.",
					m.Addr, x.LocalName, x.LocalName, m.Call.Name)
			}
		}
	}
}

const undefined = "Reference to undefined provider"

// received checks the configurations that m's caller passes to it.
func (k *providerCheck) received(m *Module) {
	for _, p := range m.Call.Providers {
		x := p.InChild
		want, got := m.ProviderOf(x.LocalName), m.Parent.ProviderOf(p.InParent.LocalName)
		declared := x.Alias == "" && m.requires(x.LocalName) || m.wantsAlias(x) || m.Providers[x] != nil && !m.configures(x)
		switch {
		case !declared && want == addrs.DefaultProvider(x.LocalName):
			k.warnf(&p.InChildRange, undefined, "Nothing in %s says which provider %s is, so that it is taken for %s. Add it to required_providers there.", m.Addr, x, want.ForDisplay())
		case !declared:
			k.errorf(&p.InChildRange, undefined, "%s does not declare a provider configuration %s. Add it to the configuration_aliases of the provider's entry in required_providers there, or leave it out here.", m.Addr, x)
		}
		if want != got {
			k.errorf(&p.InParentRange, "Provider type mismatch", "%s stands for provider %s in %s, but %s in %s is a configuration of %s.",
				x, want.ForDisplay(), m.Addr, p.InParent, m.Parent.where(), got.ForDisplay())
		}
		if m.configures(x) {
			k.errorf(&p.InChildRange, "Cannot override provider configuration", "%s configures %s itself, at %s, so that its caller cannot pass another configuration.", m.Addr, x, at(m.Providers[x].Range))
		}
	}
}

// aliases checks that m receives every configuration that it declares to need, and
// that a module with provider blocks of its own is called only once.
func (k *providerCheck) aliases(m *Module) {
	for _, name := range slices.Sorted(maps.Keys(m.RequiredProviders)) {
		for _, x := range m.RequiredProviders[name].Aliases {
			if x.Alias != "" && !m.isPassed(x) && !m.configures(x) {
				k.errorf(&m.Call.Range, "Missing required provider configuration",
					"%s needs a configuration of provider %s that it calls %s. Add an entry %s = ... to the providers argument of the call.",
					m.Addr, m.ProviderOf(name).ForDisplay(), x, x)
			}
		}
	}
	multiple, ok := expandedAt(m)
	if !ok {
		return
	}
	for _, p := range m.sortedProviders() {
		if !p.isPlaceholder() {
			k.errorf(&multiple, "Module is incompatible with count, for_each, and depends_on",
				"%s has provider blocks of its own (%s, at %s). Such a module, and what calls it, cannot have count, for_each or depends_on: let the caller pass the configuration instead.",
				m.Addr, p.Addr, at(p.Range))
			return
		}
	}
}

// expandedAt returns the place of the argument on the way to m that excludes
// provider blocks in it, the innermost one.
func expandedAt(m *Module) (hcl.Range, bool) {
	for ; m.Call != nil; m = m.Parent {
		c := m.Call
		if list := c.Expressions(); len(list) > 0 {
			return list[0].Range(), true
		}
		switch {
		case len(c.DependsOn) > 0:
			return c.DependsOn[0].SourceRange(), true
		case c.DependsOn != nil:
			return c.Range, true
		}
	}
	return hcl.Range{}, false
}

func compareLocal(a, b addrs.LocalProviderConfig) int {
	return cmp.Or(cmp.Compare(a.LocalName, b.LocalName), cmp.Compare(a.Alias, b.Alias))
}
