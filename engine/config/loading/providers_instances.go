package loading

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
)

// instances checks the instance key in a use of a provider configuration. A key is required if the
// configuration has for_each, and refused if it has not.
func (k *providerCheck) instances(m *config.Module, use config.ProviderUse, place *hcl.Range, user string) {
	if use.Key != nil && use.Callee == nil && m.Addr != use.Config.Module {
		k.errorf(use.Key.Range().Ptr(), "Unexpected provider instance key", "%s chooses an instance of a provider configuration that %s receives from its caller. The caller passes one instance: move the key in brackets to the providers argument of the call.", user, moduleWords(m))
		return
	}
	for m.Addr != use.Config.Module {
		m = m.Parent
	}
	block := m.ProviderBlock(use.Config)
	switch several := block != nil && block.ForEach != nil; {
	case several && use.Key == nil:
		k.errorf(place, "Provider instance key required", "%s uses the provider configuration %s, which has for_each, at %s. Choose one of its instances with a key in brackets after the name, such as [each.key].", user, use.Config, block.Range)
	case !several && use.Key != nil:
		k.errorf(use.Key.Range().Ptr(), "Unexpected provider instance key", "%s chooses an instance of the provider configuration %s, which has no for_each. Leave the key in brackets out.", user, use.Config)
	}
}

// keysTogether warns if a resource or call has the same for_each as the provider configuration that it uses.
// If an element is removed from for_each, the provider instance that must destroy the element's objects goes
// at the same time.
// Source: OpenTofu 1.9.
func (k *providerCheck) keysTogether(m *config.Module) {
	warn := func(what, addr string, local addrs.LocalProviderConfig, keys hcl.Expression) bool {
		p := m.Providers[local]
		if p == nil || p.ForEach == nil || keys == nil || !k.same(p.ForEach, keys) {
			return false
		}
		k.warnf(keys.Range().Ptr(), "Provider configuration for_each matches "+what,
			"%s has the same for_each as the provider configuration %s, at %s. If an element is taken out of it, the instance goes that must destroy the objects made with it, and planning fails.\n\nWrite them so that the provider configuration can keep an element which the %s has no more. Until then, destroy the objects first:\n    lockstep apply -destroy -target='%s[\"KEY\"]'",
			addr, p.Addr, p.Range, what, addr)
		return true
	}
	for _, addr := range slices.SortedFunc(maps.Keys(m.Resources), addrs.Resource.Compare) {
		x := m.Resources[addr]
		warn("resource", addr.String(), x.Provider, x.ForEach)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Calls)) {
		for _, p := range m.Calls[name].Providers {
			if warn("module", "module."+name, p.InParent, m.Calls[name].ForEach) {
				break
			}
		}
	}
}

// same reports whether two expressions have the same text and at least one reference.
func (k *providerCheck) same(x, y hcl.Expression) bool {
	text := k.text(x)
	return text != "" && text == k.text(y) && len(x.Variables()) > 0
}

// text returns the source text of an expression.
func (k *providerCheck) text(e hcl.Expression) string {
	at := e.Range()
	f := k.files[at.Filename]
	if f == nil || !at.CanSliceBytes(f.Bytes) {
		return ""
	}
	return string(at.SliceBytes(f.Bytes))
}
