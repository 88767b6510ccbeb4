package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

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
// block itself if m has it, else what the calls on the way to m pass or inherit. A default
// configuration that nobody wrote belongs to the root. An empty block in a called module is
// a placeholder, which gives way to what is passed. key is what stands behind the local one.
func (m *Module) ProviderUse(local addrs.LocalProviderConfig, key hcl.Expression) ProviderUse {
	p := m.ProviderOf(local.LocalName)
	use := ProviderUse{Key: key}
	for {
		block := m.Providers[local]
		use.Config = addrs.AbsProviderConfig{Module: m.Addr, Provider: p, Alias: local.Alias}
		if m.Parent == nil || block != nil && !block.empty {
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

// ResourceUse returns what a resource block in m uses.
func (m *Module) ResourceUse(r *Resource) ProviderUse {
	return m.ProviderUse(r.Provider, r.ProviderKey)
}

// providerInstanceRef reads a reference to a provider configuration, and the expression
// in brackets behind it, if there is one.
func (r *reader) providerInstanceRef(e hcl.Expression) (addrs.LocalProviderConfig, hcl.Expression, bool) {
	x, ds := native(e)
	if ds.HasErrors() {
		x = e
	}
	switch x := x.(type) {
	case *hclsyntax.IndexExpr:
		local, ok := r.providerRef(x.Collection)
		return local, x.Key, ok
	case *hclsyntax.ScopeTraversalExpr:
		last := len(x.Traversal) - 1
		if index, is := x.Traversal[last].(hcl.TraverseIndex); is && last > 0 {
			of := &hclsyntax.ScopeTraversalExpr{Traversal: x.Traversal[:last], SrcRange: x.Traversal[:last].SourceRange()}
			local, ok := r.providerRef(of)
			return local, &hclsyntax.LiteralValueExpr{Val: index.Key, SrcRange: index.SrcRange}, ok
		}
	}
	local, ok := r.providerRef(e)
	return local, nil, ok
}

// instances checks that what uses a provider configuration says which instance, if it has
// several, and only then.
func (k *providerCheck) instances(m *Module, use ProviderUse, place *hcl.Range, user string) {
	if use.Key != nil && use.Callee == nil && m.Addr != use.Config.Module {
		k.errorf(use.Key.Range().Ptr(), "Unexpected provider instance key", "%s chooses an instance of a provider configuration that %s receives from its caller. What a caller passes is one instance: leave the key in brackets out, and write it into the providers argument of the call.", user, m.where())
		return
	}
	for m.Addr != use.Config.Module {
		m = m.Parent
	}
	block := m.ProviderBlock(use.Config)
	switch several := block != nil && block.ForEach != nil; {
	case several && use.Key == nil:
		k.errorf(place, "Provider instance key required", "%s uses the provider configuration %s, which has for_each, at %s. Say which of its instances is meant, with a key in brackets behind the name, such as [each.key].", user, use.Config, at(block.Range))
	case !several && use.Key != nil:
		k.errorf(use.Key.Range().Ptr(), "Unexpected provider instance key", "%s chooses an instance of the provider configuration %s, which has no for_each. Leave the key in brackets out.", user, use.Config)
	}
}

// keysTogether warns of a resource or call that has its keys from where the provider
// configuration has them that it uses: an instance of it goes together with the one that
// must destroy its objects. Source: OpenTofu 1.9.
func (k *providerCheck) keysTogether(m *Module) {
	warn := func(what, addr string, local addrs.LocalProviderConfig, keys hcl.Expression) bool {
		p := m.Providers[local]
		if p == nil || p.ForEach == nil || keys == nil || !k.same(p.ForEach, keys) {
			return false
		}
		k.warnf(keys.Range().Ptr(), "Provider configuration for_each matches "+what,
			"%s has the same for_each as the provider configuration %s, at %s. If an element is taken out of it, the instance goes that must destroy the objects made with it, and planning fails.\n\nWrite them so that the provider configuration can keep an element which the %s has no more. Until then, destroy the objects first:\n    lockstep apply -destroy -target='%s[\"KEY\"]'",
			addr, p.Addr, at(p.Range), what, addr)
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

// same reports whether two expressions are written alike and refer to something.
func (k *providerCheck) same(x, y hcl.Expression) bool {
	text := k.text(x)
	return text != "" && text == k.text(y) && len(x.Variables()) > 0
}

// text returns what an expression is written as.
func (k *providerCheck) text(e hcl.Expression) string {
	at := e.Range()
	f := k.files[at.Filename]
	if f == nil || !at.CanSliceBytes(f.Bytes) {
		return ""
	}
	return string(at.SliceBytes(f.Bytes))
}
