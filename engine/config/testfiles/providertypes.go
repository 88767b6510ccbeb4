package testfiles

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// checkProviders checks that each provider configuration of a test file belongs to only one provider. The
// first module that receives the configuration decides, whatever the module's local name for the provider is.
func (s *Suite) checkProviders() (ds hcl.Diagnostics) {
	for _, f := range s.Files {
		for _, r := range f.Runs {
			switch {
			case r.Config != nil:
				// Compare this module for later runs: the provider configurations that it receives now belong
				// to its providers. Ignore the differences for the module itself. The test reports them when it
				// runs.
				f.explicit(r, r.Config.Root)
				if len(r.Providers) == 0 {
					f.implicit(r.Config.Root)
				}
			case r.Module == nil && len(r.Providers) > 0:
				ds = append(ds, f.explicit(r, s.Config.Root)...)
			case r.Module == nil:
				ds = append(ds, f.implicit(s.Config.Root)...)
			}
		}
	}
	return ds
}

const mismatch = "Provider type mismatch"

// explicit checks the providers argument of the run r, which runs the module m. For each entry, the provider of
// the file's configuration must be the provider that m needs.
func (f *File) explicit(r *Run, m *config.Module) (ds hcl.Diagnostics) {
	for _, p := range r.Providers {
		want, name := m.ProviderOf(p.InChild.LocalName), p.InParent.LocalName
		if got := f.decideProvider(name, want); got != want {
			ds = append(ds, diags.HCLError(rangeOfName(p), mismatch, "%s is a configuration of provider %s in this file, since another run passes it to a module that needs that one, but %s stands for provider %s in the module of this run. Use a provider block with another name for each provider.",
				p.InParent, got.ForDisplay(), p.InChild, want.ForDisplay()))
		}
	}
	return ds
}

// implicit checks the file's provider configurations for a run of m without a providers argument. m then
// receives the configurations of the file that have the same names as its own. The providers must be the same.
func (f *File) implicit(m *config.Module) (ds hcl.Diagnostics) {
	check := func(x addrs.LocalProviderConfig) {
		p := f.Providers[x]
		if p == nil {
			return
		}
		want := m.ProviderOf(x.LocalName)
		if got := f.decideProvider(x.LocalName, want); got != want {
			ds = append(ds, diags.HCLError(&p.Range, mismatch, "%s is a configuration of provider %s in this file, since a run passes it to a module that needs that one, but it stands for provider %s in a module that gets it by its name. Use a provider block with another name for each provider.",
				x, got.ForDisplay(), want.ForDisplay()))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.RequiredProviders)) {
		check(addrs.LocalProviderConfig{LocalName: name})
		for _, x := range m.RequiredProviders[name].Aliases {
			check(x)
		}
	}
	for _, p := range m.SortedProviders() {
		if p.Addr.Alias != "" {
			check(p.Addr)
		}
	}
	return ds
}

// rangeOfName returns the range of the local name in a reference to a provider configuration.
func rangeOfName(p config.PassedProvider) *hcl.Range {
	at := p.InParentRange
	if n := len(p.InParent.LocalName); at.End.Byte-at.Start.Byte > n {
		at.End = hcl.Pos{Line: at.Start.Line, Column: at.Start.Column + n, Byte: at.Start.Byte + n}
	}
	return &at
}

// decideProvider returns the provider of the file's provider configurations with this local name. The first
// call for a name decides: from then on, all these configurations have the provider want. If the file has no such
// configuration, decideProvider returns want.
func (f *File) decideProvider(name string, want addrs.Provider) addrs.Provider {
	got := want
	for _, p := range f.providers {
		if p.Addr.LocalName != name {
			continue
		}
		if p.source == (addrs.Provider{}) {
			p.source = want
		}
		got = p.source
	}
	return got
}
