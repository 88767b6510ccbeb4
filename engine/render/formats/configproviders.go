package formats

import (
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// providerEntries are the provider configurations of all modules by their keys. A configuration without a block
// has an entry if it is required, used or passed. An entry may be just another name for a configuration. Then
// its source is the key of this configuration, and the entry is not shown. Keys and sources are the same as in
// Terraform 1.11.4, which compares only names: a configuration that is inherited under another name has no
// source.
type providerEntries map[string]providerEntry

type providerEntry struct {
	providerConfigJSON
	source string // key of the configuration that this entry is another name for; "" if there is none
}

// own returns the entries that are configurations themselves, not just another name for one.
func (e providerEntries) own() map[string]providerConfigJSON {
	out := map[string]providerConfigJSON{}
	for key, x := range e {
		if x.source == "" {
			out[key] = x.providerConfigJSON
		}
	}
	return out
}

// source returns the key of the configuration for which an entry is another name. If the entry is a
// configuration itself, it returns key.
func (e providerEntries) source(key string) string {
	if from := e[key].source; from != "" {
		return from
	}
	return key
}

// find follows an entry to its source, the source of that entry, and so on, as long as the entries are for the
// provider fullName. It returns the key of the last such entry: the configuration itself. The result is "" if
// the first entry is missing or is for another provider.
func (e providerEntries) find(key, fullName string) string {
	found := ""
	for key != "" && e[key].FullName == fullName {
		found, key = key, e[key].source
	}
	return found
}

// enterProviders adds the provider configurations of a module and of the modules that it calls.
func (w configWriter) enterProviders(m *config.Module) {
	for local, p := range m.Providers {
		x := w.providerEntry(m, local)
		x.Alias, x.Version = local.Alias, constraints(requirements(m, m.ProviderOf(local.LocalName)))
		x.Expressions = w.providerExpressions(m, p)
		w.providers[providerKey(m.Addr, local)] = x
	}
	for _, name := range slices.Sorted(maps.Keys(m.RequiredProviders)) {
		r := m.RequiredProviders[name]
		for _, alias := range r.Aliases {
			x := w.providerEntry(m, addrs.LocalProviderConfig{LocalName: name})
			x.Version = constraints(requirements(m, r.Source))
			w.enter(providerKey(m.Addr, alias), x)
		}
		local := addrs.LocalProviderConfig{LocalName: name}
		x := w.inherited(m, local)
		x.Version = constraints(requirements(m, r.Source))
		w.enter(providerKey(m.Addr, local), x)
	}
	for _, name := range slices.Sorted(maps.Keys(m.RequiredProviders)) {
		// Terraform also lists each required provider under the provider's own type name, whatever its local
		// name is.
		source := m.RequiredProviders[name].Source
		x := w.inherited(m, addrs.LocalProviderConfig{LocalName: source.Type})
		x.FullName = source.String()
		if m.Parent != nil {
			x.source = w.providers.find(providerKey(m.Parent.Addr, addrs.LocalProviderConfig{LocalName: source.Type}), x.FullName)
		}
		w.enter(providerKey(m.Addr, addrs.LocalProviderConfig{LocalName: source.Type}), x)
	}
	for name, call := range m.Calls {
		child := m.Children[name]
		if child == nil {
			continue
		}
		for _, p := range call.Providers {
			x := w.providerEntry(child, p.InChild)
			x.Name = p.InChild.String()
			x.source = w.providers.find(providerKey(m.Addr, p.InParent), x.FullName)
			w.providers[providerKey(child.Addr, p.InChild)] = x
		}
		w.enterProviders(child)
	}
}

// enter adds an entry for a provider configuration, unless there already is an entry with this key.
func (w configWriter) enter(key string, x providerEntry) {
	if _, ok := w.providers[key]; !ok {
		w.providers[key] = x
	}
}

func (w configWriter) providerEntry(m *config.Module, local addrs.LocalProviderConfig) providerEntry {
	return providerEntry{providerConfigJSON: providerConfigJSON{
		Name: local.LocalName, FullName: m.ProviderOf(local.LocalName).String(), Module: m.Addr.String(),
	}}
}

// inherited returns the entry for a provider configuration that the module inherits. Its source is the parent's
// configuration of the same name.
func (w configWriter) inherited(m *config.Module, local addrs.LocalProviderConfig) providerEntry {
	x := w.providerEntry(m, local)
	if m.Parent != nil {
		x.source = w.providers.find(providerKey(m.Parent.Addr, local), x.FullName)
	}
	return x
}

// providerExpressions describes a provider block.
func (w configWriter) providerExpressions(m *config.Module, p *config.Provider) map[string]any {
	var block *schema.Block
	if w.schemas != nil {
		if known := w.schemas(m.ProviderOf(p.Addr.LocalName)); known != nil && known.Provider != nil {
			block = known.Provider.Block
		}
	}
	if block == nil {
		return attributesOf(p.Body)
	}
	return expressions(p.Body, block)
}

// requirements returns a module's version constraints for a provider, under all its local names.
func requirements(m *config.Module, p addrs.Provider) []config.VersionConstraint {
	var out []config.VersionConstraint
	for _, name := range slices.Sorted(maps.Keys(m.RequiredProviders)) {
		if r := m.RequiredProviders[name]; r.Source == p {
			out = append(out, r.Versions...)
		}
	}
	for _, block := range m.Providers {
		if m.ProviderOf(block.Addr.LocalName) == p {
			out = append(out, block.Versions...)
		}
	}
	return out
}

func providerKey(m addrs.Module, local addrs.LocalProviderConfig) string {
	if m.IsRoot() {
		return local.String()
	}
	return m.String() + ":" + local.String()
}
