package graphs

import (
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// useProviders adds a node for each provider configuration in use. The nodes that use the configuration come
// after it.
func (b *builder) useProviders() {
	for _, n := range slices.Clone(b.nodes) {
		if n.provider == nil {
			continue
		}
		p := b.providers[*n.provider]
		if p == nil {
			p = b.add(n.provider.Module, n.provider.String())
			p.draw(p.name, "diamond")
			p.refers = true
			b.providers[*n.provider] = p
		}
		connect(n, p)
	}
}

// removedModules adds the close node of each module that is in the state but no longer in the configuration.
func (b *builder) removedModules() {
	gone := map[addrs.Module]bool{}
	for a := range b.State.Resources() {
		if m := a.Module.Module(); b.Config.Modules[m] == nil {
			gone[m] = true
		}
	}
	for _, m := range slices.SortedFunc(maps.Keys(gone), func(x, y addrs.Module) int { return strings.Compare(x.String(), y.String()) }) {
		b.closer(m)
	}
}

// closer adds the close node of a module, such as "module.net (close)". References to the call of the module
// resolve to this node.
func (b *builder) closer(m addrs.Module) *node {
	n := b.add(m, m.String()+" (close)")
	parent, call := m.Call()
	b.named(n, key{module: parent, kind: addrs.KindCall, name: call})
	return n
}

// expandModules adds an expand node and a close node for each module. All other nodes of the module come
// between the two, except the destroy nodes: their order follows from dependencies alone.
func (b *builder) expandModules() {
	inside := slices.Clone(b.nodes)
	for _, m := range b.Config.Order {
		if m.Parent == nil {
			continue
		}
		begin := b.add(m.Addr, m.Addr.String()+" (expand)")
		begin.refers = true
		b.expanders[m.Addr] = begin
		if up := b.expanders[m.Parent.Addr]; up != nil {
			connect(begin, up)
		}
		end := b.closer(m.Addr)
		b.closers[m.Addr] = end
		connect(end, begin)
		for up := m.Parent; up != nil; up = up.Parent {
			if c := b.closers[up.Addr]; c != nil {
				connect(c, end)
			}
		}
	}
	for _, n := range inside {
		if begin := b.expanders[n.module]; begin != nil && !n.destroys && !n.outside {
			connect(n, begin)
			connect(b.closers[n.module], n)
		}
	}
}

// refer adds the edges from references in all modules.
func (b *builder) refer() {
	for _, m := range b.Config.Order {
		b.referIn(m)
	}
}

func (b *builder) referIn(m *config.Module) {
	uses := b.uses[m.Content]
	local := func(n *node, o addrs.Object) {
		for _, r := range uses.Of(o) {
			b.link(n, m.Addr, r)
		}
	}
	of := func(k key, o addrs.Object) {
		for _, n := range b.keys[k] {
			local(n, o)
		}
	}
	for name := range m.Variables {
		b.referVariable(m, name)
	}
	for name := range m.Locals {
		of(key{module: m.Addr, kind: addrs.KindLocal, name: name}, addrs.Object{Kind: addrs.KindLocal, Name: name})
	}
	for name := range m.Checks {
		of(key{module: m.Addr, kind: addrs.KindCheck, name: name}, addrs.Object{Kind: addrs.KindCheck, Name: name})
	}
	for r := range m.Resources {
		of(key{module: m.Addr, kind: addrs.KindResource, resource: r}, addrs.Object{Kind: addrs.KindResource, Res: r})
	}
	for name := range m.Calls {
		if n := b.expanders[m.Addr.Child(name)]; n != nil {
			local(n, addrs.Object{Kind: addrs.KindCall, Name: name})
		}
	}
	for lc := range m.Providers {
		p := b.providers[addrs.AbsProviderConfig{Module: m.Addr, Provider: m.ProviderOf(lc.LocalName), Alias: lc.Alias}]
		if p != nil {
			local(p, addrs.Object{Kind: addrs.KindProvider, Name: lc.String()})
		}
	}
	b.referOutputs(m, local)
}

// referOutputs calls the function local for the node of each output of m. That function adds the edges of the
// output's references. If everything is destroyed, root outputs are not evaluated, and referOutputs leaves them
// out.
func (b *builder) referOutputs(m *config.Module, local func(*node, addrs.Object)) {
	for name := range m.Outputs {
		if m.Parent == nil && b.destroying {
			continue
		}
		for _, n := range b.keys[key{module: m.Addr, kind: addrs.KindOutput, name: name}] {
			local(n, addrs.Object{Kind: addrs.KindOutput, Name: name})
		}
	}
}

// referVariable adds the edges of a variable: to what its argument in the module call refers to, and to what
// its validations refer to.
func (b *builder) referVariable(m *config.Module, name string) {
	nodes := b.keys[key{module: m.Addr, kind: addrs.KindVariable, name: name}]
	if m.Parent != nil {
		if a := m.Call.Args[name]; a != nil {
			given := b.uses[m.Parent.Content].OfExpr(a.Expr)
			for i := range given {
				b.link(nodes[0], m.Parent.Addr, &given[i])
			}
		}
	}
	for _, n := range nodes[1:] {
		for _, r := range b.uses[m.Content].Of(addrs.Object{Kind: addrs.KindVariable, Name: name}) {
			b.link(n, m.Addr, r)
		}
	}
}

// link makes n come after the nodes that a reference in the module m leads to.
func (b *builder) link(n *node, m addrs.Module, r *refs.Reference) {
	for _, x := range b.resolve(m, r) {
		if x != n && !inDifferentInstances(n, x) {
			connect(n, x)
		}
	}
}

// resolve returns the nodes to which a reference in a module resolves.
func (b *builder) resolve(m addrs.Module, r *refs.Reference) []*node {
	k := key{module: m, kind: r.Object.Kind, name: r.Object.Name, resource: r.Object.Res}
	switch r.Object.Kind {
	case addrs.KindProvider:
		return nil
	case addrs.KindResource:
		if r.HasKey {
			k.instance = r.Key
			if one := b.keys[k]; one != nil {
				return one
			}
			k.instance = addrs.NoKey
		}
	case addrs.KindCall:
		if r.Output != "" {
			if one := b.keys[key{module: m.Child(r.Object.Name), kind: addrs.KindOutput, name: r.Output}]; one != nil {
				return one
			}
		}
	}
	return b.keys[k]
}

// inDifferentInstances reports whether two nodes are in different instances of the same module. Such nodes have no edges
// between them.
func inDifferentInstances(x, y *node) bool {
	return x.instance != nil && y.instance != nil && x.module == y.module && x.instance.Module != y.instance.Module
}
