package addrs

import (
	"cmp"
	"strings"
)

// ResourceMode is the kind of a block whose type a provider defines: resource, data, ephemeral or action.
type ResourceMode byte

const (
	Managed   ResourceMode = 'M' // resource blocks
	Data      ResourceMode = 'D' // data blocks
	Ephemeral ResourceMode = 'E' // ephemeral blocks
	Action    ResourceMode = 'A' // action blocks; they have no objects, and are not in a module's resources
)

// String returns the state format's word: "managed", "data", "ephemeral"; or "action", which states do not have.
func (m ResourceMode) String() string {
	switch m {
	case Managed:
		return "managed"
	case Data:
		return "data"
	case Ephemeral:
		return "ephemeral"
	case Action:
		return "action"
	}
	return "invalid"
}

// Resource is the address of a resource block within its module. It can also be the address of an action block.
type Resource struct {
	Mode ResourceMode
	Type string
	Name string
}

// String returns `type.name`, `data.type.name`, `ephemeral.type.name` or `action.type.name`.
func (r Resource) String() string {
	switch r.Mode {
	case Data:
		return "data." + r.Type + "." + r.Name
	case Ephemeral:
		return "ephemeral." + r.Type + "." + r.Name
	case Action:
		return "action." + r.Type + "." + r.Name
	}
	return r.Type + "." + r.Name
}

// ImpliedProvider returns the local name of the provider for a resource without a provider argument: the
// first word of the resource type.
func (r Resource) ImpliedProvider() string {
	name, _, _ := strings.Cut(r.Type, "_")
	return strings.ToLower(name) // as the names of providers are
}

// Compare orders resources by mode, type and name. Data resources come before managed ones, as in state files
// and plans.
func (r Resource) Compare(x Resource) int {
	return cmp.Or(cmp.Compare(modeRank(r.Mode), modeRank(x.Mode)), cmp.Compare(r.Type, x.Type), cmp.Compare(r.Name, x.Name))
}

// modeRank returns the rank of a mode in the order in which Terraform sorts state and plan: data, managed,
// ephemeral, action.
func modeRank(m ResourceMode) int {
	switch m {
	case Data:
		return 0
	case Managed:
		return 1
	case Ephemeral:
		return 2
	}
	return 3
}

// ConfigResource is a resource block in the static module tree, before any expansion.
type ConfigResource struct {
	Module   Module
	Resource Resource
}

// String returns `module.net.type.name`, without any instance key.
func (r ConfigResource) String() string {
	if r.Module.IsRoot() {
		return r.Resource.String()
	}
	return r.Module.String() + "." + r.Resource.String()
}

// Compare orders resource blocks by module, then resource.
func (r ConfigResource) Compare(x ConfigResource) int {
	return cmp.Or(cmp.Compare(r.Module.path, x.Module.path), r.Resource.Compare(x.Resource))
}

// AbsResource is a resource block within one module instance.
type AbsResource struct {
	Module   ModuleInstance
	Resource Resource
}

// Config returns the address of r's block.
func (r AbsResource) Config() ConfigResource { return ConfigResource{r.Module.Module(), r.Resource} }

// Instance returns the instance of r with the given key.
func (r AbsResource) Instance(k InstanceKey) AbsResourceInstance {
	return AbsResourceInstance{r.Module, ResourceInstance{r.Resource, k}}
}

// String returns `module.net["a"].type.name`.
func (r AbsResource) String() string {
	if r.Module.IsRoot() {
		return r.Resource.String()
	}
	return r.Module.String() + "." + r.Resource.String()
}

// Compare orders resources by module instance, then resource.
func (r AbsResource) Compare(x AbsResource) int {
	return cmp.Or(r.Module.Compare(x.Module), r.Resource.Compare(x.Resource))
}

// ResourceInstance is one instance of a resource within its module instance.
type ResourceInstance struct {
	Resource Resource
	Key      InstanceKey
}

// String returns `type.name["a"]`.
func (r ResourceInstance) String() string { return r.Resource.String() + r.Key.String() }

// AbsResourceInstance is one resource instance in the whole configuration.
type AbsResourceInstance struct {
	Module   ModuleInstance
	Resource ResourceInstance
}

// AbsResource returns the resource that r is an instance of.
func (r AbsResourceInstance) AbsResource() AbsResource {
	return AbsResource{r.Module, r.Resource.Resource}
}

// Config returns the address of r's block.
func (r AbsResourceInstance) Config() ConfigResource { return r.AbsResource().Config() }

// String returns `module.net["a"].type.name[0]`.
func (r AbsResourceInstance) String() string {
	if r.Module.IsRoot() {
		return r.Resource.String()
	}
	return r.Module.String() + "." + r.Resource.String()
}

// Compare orders instances by module instance, resource and key.
func (r AbsResourceInstance) Compare(x AbsResourceInstance) int {
	return cmp.Or(r.AbsResource().Compare(x.AbsResource()), r.Resource.Key.Compare(x.Resource.Key))
}

// Compare orders module instances as Terraform lists them: by depth, then by names
// and keys.
func (m ModuleInstance) Compare(x ModuleInstance) int {
	if m.path == x.path {
		return 0
	}
	a, b := m.Steps(), x.Steps()
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return c
	}
	for i := range a {
		if c := cmp.Or(cmp.Compare(a[i].Name, b[i].Name), a[i].Key.Compare(b[i].Key)); c != 0 {
			return c
		}
	}
	return 0
}

// DeposedKey identifies one deposed object of a resource instance: eight hexadecimal digits. "" identifies
// the instance's current object.
type DeposedKey string

// NotDeposed is the key of the current object.
const NotDeposed DeposedKey = ""

// ResourceInstanceObject is the address of one remote object in a state: the current object of an instance,
// or one of its deposed objects.
type ResourceInstanceObject struct {
	Instance AbsResourceInstance
	Deposed  DeposedKey
}

// String returns the instance's address. For a deposed object, ` (deposed object KEY)` follows.
func (o ResourceInstanceObject) String() string {
	if o.Deposed == NotDeposed {
		return o.Instance.String()
	}
	return o.Instance.String() + " (deposed object " + string(o.Deposed) + ")"
}
