package formats

import (
	"cmp"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// A moduleTree is a module instance with the resources in it, and the instances
// that it calls: the shape in which the state and plan formats have values.
type moduleTree struct {
	stored    bool // it is that of a state
	addr      addrs.ModuleInstance
	resources []moduleResource
	children  []*moduleTree
	all       map[addrs.ModuleInstance]*moduleTree // of the root: the whole tree
}

// A moduleResource writes one object.
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

// add puts a resource into a module, with every module on the way there.
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

// module writes the tree: modules sorted by their printed addresses. So are planned
// resources; those of a state are sorted by their addresses as such.
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
