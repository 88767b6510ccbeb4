package decoding

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
)

// requiredProviders reads a required_providers block.
func (d *Decoder) requiredProviders(b *hcl.Block) {
	if !d.override {
		if d.requirements != nil {
			d.errorf(&b.DefRange, "Duplicate required providers configuration",
				"A module may have only one required_providers block. It was declared before at %s.", at(d.requirements.DefRange))
			return
		}
		d.requirements = b
	}
	attrs, ds := b.Body.JustAttributes()
	d.add(ds)
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		a := attrs[name]
		req := &config.RequiredProvider{LocalName: name, Range: a.Expr.Range()}
		if (&requirement{&d.reader, req}).entry(a) {
			d.content.RequiredProviders[name] = req
		}
	}
	if !d.override {
		d.duplicateRequirements()
	}
}

// misplacedRequirements refuses a required_providers block outside of a terraform block.
func (d *Decoder) misplacedRequirements(b *hcl.Block) {
	d.errorf(&b.TypeRange, "Invalid required_providers block", `A "required_providers" block must stand inside a "terraform" block.`)
}

// duplicateRequirements warns of providers with two local names.
func (d *Decoder) duplicateRequirements() {
	first := map[addrs.Provider]string{}
	for _, name := range slices.Sorted(maps.Keys(d.content.RequiredProviders)) {
		req := d.content.RequiredProviders[name]
		if other, dup := first[req.Source]; dup {
			d.warnf(&req.Range, "Duplicate required provider",
				"The provider %s is required twice, as %q and as %q. Keep one of the two entries.", req.Source.ForDisplay(), other, name)
			continue
		}
		first[req.Source] = name
	}
}

const badLocalName = "Invalid provider local name"

// checkLocalName returns the problem with a provider's local name; "" if there is none.
func checkLocalName(name string) string {
	p, err := addrs.ParseProvider(name)
	if err != nil {
		return "A provider's local name may contain only lower-case letters, digits and dashes: " + err.Error() + "."
	}
	if p.Type != name {
		return fmt.Sprintf("A provider's local name must be written in lower case: %q.", p.Type)
	}
	if strings.Contains(name, "_") {
		return fmt.Sprintf("A provider's local name may contain only lower-case letters, digits and dashes, so %q cannot be one.", name)
	}
	return ""
}

// implied adds the providers that are used without a required_providers entry. Their source addresses follow
// from the local names alone.
func (d *Decoder) implied() {
	use := func(name string, at hcl.Range) {
		if name == "" || checkLocalName(name) != "" || d.content.RequiredProviders[name] != nil {
			return
		}
		d.content.RequiredProviders[name] = &config.RequiredProvider{
			LocalName: name, Source: addrs.DefaultProviderIn(d.registry, name), Implied: true, Range: at,
		}
	}
	for _, p := range d.content.SortedProviders() {
		use(p.Addr.LocalName, p.Range)
	}
	for _, blocks := range []map[addrs.Resource]*config.Resource{d.content.Resources, d.content.Actions} {
		for _, addr := range slices.SortedFunc(maps.Keys(blocks), addrs.Resource.Compare) {
			use(blocks[addr].Provider.LocalName, blocks[addr].Range)
		}
	}
	for _, l := range d.content.Lists {
		use(l.Provider.LocalName, l.Range)
	}
	for _, m := range d.content.Imports {
		switch {
		case m.Provider != nil:
			use(m.Provider.LocalName, m.Range)
		case m.Resource.Module.IsRoot() && d.content.Resources[m.Resource.Resource] == nil: // its block may yet be written
			use(m.Resource.Resource.ImpliedProvider(), m.Range)
		}
	}
}
