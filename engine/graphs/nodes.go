package graphs

import (
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A key is what a reference can name in a module: an object, or one instance of a resource.
type key struct {
	module   addrs.Module
	kind     addrs.ObjectKind
	name     string
	resource addrs.Resource
	instance addrs.InstanceKey
}

// named makes references with the key k lead to n. If other nodes already have the key k, a reference leads to
// all of them.
func (b *builder) named(n *node, k key) { b.keys[k] = append(b.keys[k], n) }

// within returns name with the module's address before it, such as "module.a.local.x"; in the root module,
// just name.
func within(m addrs.Module, name string) string {
	if m.IsRoot() {
		return name
	}
	return m.String() + "." + name
}

// declare adds the nodes of all blocks of a module.
func (b *builder) declare(m *config.Module) {
	for _, r := range slices.SortedFunc(maps.Keys(m.Resources), addrs.Resource.Compare) {
		if b.Operation != PlanDestroy || r.Mode == addrs.Ephemeral {
			b.declareResource(m, m.Resources[r])
		}
	}
	for _, name := range sorted(m.Variables) {
		b.declareVariable(m, m.Variables[name])
	}
	for _, name := range sorted(m.Locals) {
		n := b.add(m.Addr, within(m.Addr, "local."+name)+" (expand)")
		n.refers = true
		b.named(n, key{module: m.Addr, kind: addrs.KindLocal, name: name})
	}
	for _, name := range sorted(m.Outputs) {
		n := b.add(m.Addr, within(m.Addr, "output."+name)+" (expand)")
		n.refers, n.rootOut = true, m.Parent == nil
		if m.Parent != nil {
			parent, call := m.Addr.Call()
			b.named(n, key{module: parent, kind: addrs.KindCall, name: call})
		}
		b.named(n, key{module: m.Addr, kind: addrs.KindOutput, name: name})
	}
	for _, name := range sorted(m.Checks) {
		n := b.add(m.Addr, within(m.Addr, "check."+name)+" (expand)")
		n.refers = true
		b.named(n, key{module: m.Addr, kind: addrs.KindCheck, name: name})
		if b.Operation == Apply {
			continue
		}
		report := b.add(m.Addr, within(m.Addr, "check."+name)+" (report)")
		connect(n, report)
		if d := m.Checks[name].Data; d != nil && b.Operation != PlanDestroy {
			connect(b.resources[addrs.ConfigResource{Module: m.Addr, Resource: d.Addr}], report)
		}
	}
}

func (b *builder) declareResource(m *config.Module, r *config.Resource) {
	cr := addrs.ConfigResource{Module: m.Addr, Resource: r.Addr}
	n := b.add(m.Addr, cr.String()+" (expand)")
	n.draw(cr.String(), "box")
	pc := m.ResourceProvider(r)
	n.resource, n.provider, n.refers = &cr, &pc, true
	n.mayCreateFirst, n.createFirst = true, r.CreateBeforeDestroy
	b.resources[cr] = n
	b.named(n, key{module: m.Addr, kind: addrs.KindResource, resource: r.Addr})
}

// declareVariable adds a node for a variable. If the variable has validations, it adds a second node for
// them; every user of the variable comes after both.
func (b *builder) declareVariable(m *config.Module, v *config.Variable) {
	k := key{module: m.Addr, kind: addrs.KindVariable, name: v.Name}
	name := within(m.Addr, "var."+v.Name)
	n := b.add(m.Addr, name)
	if m.Parent == nil {
		n.draw(name, "note")
	} else {
		n.name += " (expand)"
	}
	n.refers = m.Parent != nil
	b.named(n, k)
	if len(v.Validations) > 0 && !(b.Operation == Apply && b.destroying) {
		x := b.add(m.Addr, name+" (validation)")
		x.refers = true
		connect(x, n)
		b.named(x, k)
	}
}

// instanceNode adds a node of one instance. The node's name is the address and suffix.
func (b *builder) instanceNode(addr addrs.AbsResourceInstance, suffix string) *node {
	cr := addr.Config()
	n := b.add(cr.Module, addr.String()+suffix)
	n.draw(cr.String(), "box")
	n.resource, n.instance, n.mayCreateFirst = &cr, &addr, true
	if r := b.block(cr); r != nil {
		n.createFirst = r.CreateBeforeDestroy
	}
	if pc, ok := b.providerOf(addr); ok {
		n.provider = &pc
	}
	return n
}

// block returns the block of a resource; nil if the configuration has none.
func (b *builder) block(cr addrs.ConfigResource) *config.Resource {
	if m := b.Config.Modules[cr.Module]; m != nil {
		return m.Resources[cr.Resource]
	}
	return nil
}

// providerOf returns the provider configuration of an instance: the one that its block selects, else the one
// in the state, else the one in the plan. The result is false if there is none.
func (b *builder) providerOf(addr addrs.AbsResourceInstance) (addrs.AbsProviderConfig, bool) {
	if r := b.block(addr.Config()); r != nil {
		return b.Config.Modules[addr.Config().Module].ResourceProvider(r), true
	}
	if r := b.State.Resource(addr.AbsResource()); r != nil {
		return r.Provider.Config(), true
	}
	if c := b.changes[addr]; c != nil {
		return c.Provider.Config(), true
	}
	return addrs.AbsProviderConfig{}, false
}

// stored adds the nodes of a plan for objects in the state: objects without a block, and deposed objects. In
// a plan that destroys everything, it adds all objects.
func (b *builder) stored() {
	for _, addr := range instances(b.State) {
		in := b.State.Instance(addr)
		switch orphan := b.block(addr.Config()) == nil; {
		case in.Current == nil:
		case b.destroying:
			// Terraform gives all instances of a block the same name here.
			n := b.destroyer(addr, " (destroy)")
			n.name = addr.Config().String() + " (destroy)"
			if pc, ok := b.providerOf(addr); ok {
				n.provider = &pc // data sources have a provider here, too
			}
		case orphan:
			n := b.destroyer(addr, " (orphan)")
			n.destroys, n.refers = false, true // not ordered as a destroy: dependencies do not matter
		}
		for _, dk := range slices.Sorted(maps.Keys(in.Deposed)) {
			b.destroyer(addr, " (deposed "+string(dk)+")").createFirst = false
		}
	}
}

// destroyer adds a node that removes an object.
func (b *builder) destroyer(addr addrs.AbsResourceInstance, suffix string) *node {
	n := b.instanceNode(addr, suffix)
	n.destroys = true
	if addr.Resource.Resource.Mode != addrs.Managed {
		n.provider = nil // no provider is called
	}
	if in := b.State.Instance(addr); in != nil && in.Current != nil {
		n.createFirst = in.Current.CreateBeforeDestroy
	}
	return n
}

// instances returns the instances of a state in order.
func instances(s *states.State) []addrs.AbsResourceInstance {
	var out []addrs.AbsResourceInstance
	for a, r := range s.Resources() {
		for k := range r.Instances {
			out = append(out, a.Instance(k))
		}
	}
	slices.SortFunc(out, addrs.AbsResourceInstance.Compare)
	return out
}

// planned adds the nodes of the plan's changes, and of data sources that the apply removes from the state.
func (b *builder) planned() {
	if b.Plan == nil {
		return
	}
	for _, c := range b.Plan.Changes {
		if c.Addr.Deposed == addrs.NotDeposed {
			b.changes[c.Addr.Instance] = c
		}
	}
	for _, c := range b.Plan.Changes {
		b.change(c)
	}
	data := b.Plan.ForgottenData(b.Plan.PriorState)
	slices.SortFunc(data, addrs.AbsResourceInstance.Compare)
	for _, addr := range data {
		b.destroyer(addr, " (destroy)")
	}
}

// newlyDeposed is drawn as the deposed key of an object that the apply replaces. The real key is random, and
// chosen by the apply.
const newlyDeposed = "00000000"

// change adds the nodes of one planned change: to create, update, forget or destroy an object.
func (b *builder) change(c *plans.ResourceChange) {
	addr, deposed := c.Addr.Instance, string(c.Addr.Deposed)
	switch c.Action {
	case plans.NoOp:
		r := b.block(addr.Config())
		if deposed == "" && r != nil && len(r.Preconditions)+len(r.Postconditions) > 0 {
			b.creator(addr)
		}
		return
	case plans.Forget:
		what := " (forget)"
		if deposed != "" {
			what = " (forget deposed " + deposed + ")"
		}
		n := b.instanceNode(addr, what)
		n.destroys = true
		return
	case plans.Delete:
	case plans.DeleteThenCreate:
		b.creator(addr)
	case plans.CreateThenDelete:
		b.creator(addr)
		deposed = newlyDeposed
	default:
		b.creator(addr)
		return
	}
	if deposed == "" {
		b.destroyer(addr, " (destroy)")
	} else {
		b.destroyer(addr, " (destroy deposed "+deposed+")").createFirst = true
	}
}

// creator adds a node that creates, updates or reads an instance. A reference to the resource, or to this
// instance alone, leads to the node.
func (b *builder) creator(addr addrs.AbsResourceInstance) {
	n := b.instanceNode(addr, "")
	n.creates, n.refers = true, true
	cr := addr.Config()
	k := key{module: cr.Module, kind: addrs.KindResource, resource: cr.Resource}
	b.named(n, k)
	if !addr.Resource.Key.IsNone() {
		k.instance = addr.Resource.Key
		b.named(n, k)
	}
	if x := b.resources[cr]; x != nil {
		connect(n, x)
	}
}

// orphanOutputs adds nodes for the root outputs in the state that the configuration no longer has.
func (b *builder) orphanOutputs() {
	var gone []string
	for name := range b.State.Outputs() {
		if b.Config.Root.Outputs[name] == nil {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	for _, name := range gone {
		n := b.add(addrs.RootModule, "output."+name+" (destroy)")
		n.draw(n.name, "note")
		n.rootOut = true
	}
}
