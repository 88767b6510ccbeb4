package formats

import (
	"cmp"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// A moduleTree is a module instance with its resources and the module instances that it calls, as the state
// and plan formats arrange values.
type moduleTree struct {
	stored    bool // the tree is of a state, not of a plan
	addr      addrs.ModuleInstance
	resources []moduleResource
	children  []*moduleTree
	all       map[addrs.ModuleInstance]*moduleTree // set at the root: all nodes of the tree
}

// A moduleResource is one object of a module, with the function that writes it.
type moduleResource struct {
	address string
	of      addrs.ResourceInstance
	deposed addrs.DeposedKey
	write   func(t *jsonText, address string)
}

func newModuleTree() *moduleTree {
	root := &moduleTree{}
	root.all = map[addrs.ModuleInstance]*moduleTree{root.addr: root}
	return root
}

// add adds a resource to a module instance. It adds missing modules on the way there.
func (root *moduleTree) add(m addrs.ModuleInstance, r moduleResource) {
	in := root.module(m)
	in.resources = append(in.resources, r)
}

func (root *moduleTree) module(m addrs.ModuleInstance) *moduleTree {
	if found := root.all[m]; found != nil {
		return found
	}
	parent := root.module(m.Parent())
	in := &moduleTree{addr: m, stored: root.stored}
	parent.children = append(parent.children, in)
	root.all[m] = in
	return in
}

// module writes the tree. Modules and planned resources are sorted by their printed addresses; the resources
// of a state are sorted in the order of [addrs.Resource.Compare].
func (t *jsonText) module(m *moduleTree) {
	t.openObject()
	if len(m.resources) > 0 {
		slices.SortStableFunc(m.resources, func(a, b moduleResource) int {
			if m.stored {
				return cmp.Or(a.of.Resource.Compare(b.of.Resource), a.of.Key.Compare(b.of.Key), cmp.Compare(a.deposed, b.deposed))
			}
			return cmp.Compare(a.address, b.address)
		})
		t.key("resources")
		t.openArray()
		for _, r := range m.resources {
			r.write(t, r.address)
		}
		t.closeArray()
	}
	t.optional("address", m.addr.String())
	if len(m.children) > 0 {
		slices.SortFunc(m.children, func(a, b *moduleTree) int { return cmp.Compare(a.addr.String(), b.addr.String()) })
		t.key("child_modules")
		t.openArray()
		for _, c := range m.children {
			t.module(c)
		}
		t.closeArray()
	}
	t.closeObject()
}
