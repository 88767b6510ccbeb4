package loading

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// A providerCheck compares the provider configurations that callers pass to a module with those that the
// module declares and uses. The rules are documented at
// https://developer.hashicorp.com/terraform/language/modules/develop/providers; summaries and ranges are
// Terraform's.
type providerCheck struct {
	files map[string]*hcl.File
	seen  map[*config.Content]bool
	diags hcl.Diagnostics
}

// checkProviders checks the provider configurations that modules use and pass to each other. Each used
// configuration must exist. A caller must pass the configurations that a module declares, each for the right
// provider. checkProviders returns the problems of all modules; it leaves out modules whose files have
// errors.
func checkProviders(c *config.Config) hcl.Diagnostics {
	k := &providerCheck{files: c.Files, seen: map[*config.Content]bool{}}
	for _, m := range c.Order {
		if m.Broken {
			continue // m may lack declarations that could not be read
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
	k.diags = append(k.diags, diags.HCLError(at, summary, detail, args...))
}

func (k *providerCheck) lateErrorf(at *hcl.Range, summary, detail string, args ...any) {
	k.diags = append(k.diags, diags.MarkLate(diags.HCLError(at, summary, detail, args...)))
}

func (k *providerCheck) warnf(at *hcl.Range, summary, detail string, args ...any) {
	k.diags = append(k.diags, diags.HCLWarning(at, summary, detail, args...))
}

// content checks the provider configurations of m by the files of m alone, without the caller of m.
func (k *providerCheck) content(m *config.Module) {
	for _, addr := range slices.SortedFunc(maps.Keys(m.Resources), addrs.Resource.Compare) {
		x := m.Resources[addr]
		source := m.ProviderOf(x.Provider.LocalName)
		if x.ProviderRange != nil || requires(m, x.Provider.LocalName) || source != addrs.DefaultProviderIn(m.Registry, x.Provider.LocalName) {
			continue
		}
		if other, ok := requiredAs(m, source); ok {
			k.warnf(&x.Range, "Duplicate required provider",
				"%s belongs to provider %s by its type, which required_providers calls %q. Give the resource the argument provider = %s, or change the local name to %q.",
				addr, source.ForDisplay(), other, other, x.Provider.LocalName)
		}
	}
	k.keysTogether(m)
	if m.Parent == nil {
		return
	}
	for _, p := range m.SortedProviders() {
		if isPlaceholder(p) {
			k.warnf(&p.Range, "Redundant empty provider block",
				"An empty provider block in a called module once said that the caller passes a configuration. Declare %s in required_providers (with configuration_aliases, if it has an alias) and remove the block.", p.Addr)
		}
	}
}

// ProviderNotPresent is the summary of the error about a provider configuration that is used and does not
// exist.
const ProviderNotPresent = "Provider configuration not present"

// MissingProviders returns the errors about provider configurations that the root module of a configuration
// uses and does not have. [Load] also returns these errors. In a test they need not be errors, because a test
// can add the missing provider configurations.
func MissingProviders(c *config.Config) diags.Diagnostics {
	k := &providerCheck{files: c.Files}
	k.passedOn(c.Root)
	k.uses(c.Root)
	return slices.DeleteFunc(diags.FromHCL(k.diags), func(d diags.Diagnostic) bool { return d.Summary != ProviderNotPresent })
}

// uses checks that the provider configurations named in blocks of m exist.
func (k *providerCheck) uses(m *config.Module) {
	check := func(x addrs.LocalProviderConfig, at *hcl.Range, user string) {
		if !hasProvider(m, x) {
			k.lateErrorf(at, ProviderNotPresent, "%s uses the provider configuration %s, which %s neither declares nor receives. Add a provider block with alias = %q, or name another configuration.",
				user, x, moduleWords(m), x.Alias)
		}
	}
	for _, blocks := range []map[addrs.Resource]*config.Resource{m.Resources, m.Actions} {
		for _, addr := range slices.SortedFunc(maps.Keys(blocks), addrs.Resource.Compare) {
			x := blocks[addr]
			if x.ProviderRange != nil {
				check(x.Provider, x.ProviderRange, addr.String())
			}
			place := x.ProviderRange
			if place == nil {
				place = &x.Range
			}
			if hasProvider(m, x.Provider) {
				k.instances(m, m.ResourceUse(x), place, addr.String())
			}
		}
	}
	for _, l := range m.Lists {
		check(l.Provider, &l.Range, l.String())
		k.instances(m, m.ProviderUse(l.Provider, nil), &l.Range, l.String())
	}
	for _, i := range m.Imports {
		if i.Provider != nil {
			check(*i.Provider, &i.Range, "The import block")
		}
	}
}
