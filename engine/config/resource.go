package config

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// A Resource is a resource, data or ephemeral block, or an action block. An action block has a Repetition and
// a Provider; its Body is the config block.
type Resource struct {
	Addr addrs.Resource
	// Body has the provider's own arguments and blocks: it lacks meta-arguments and the blocks lifecycle,
	// connection and provisioner.
	Body hcl.Body
	Repetition
	DependsOn []hcl.Traversal
	// Provider is the provider configuration in the provider argument, or the one that the resource type
	// implies.
	Provider      addrs.LocalProviderConfig
	ProviderRange *hcl.Range // of the provider argument, nil if implied
	// ProviderKey selects an instance of Provider, for each instance of the resource. It is nil if Provider
	// has only one instance.
	ProviderKey hcl.Expression

	CreateBeforeDestroy bool
	// CreateBeforeDestroySet reports that the block has the argument create_before_destroy.
	CreateBeforeDestroySet bool
	PreventDestroy         bool
	// PreventDestroyIf is the argument prevent_destroy if it has references; otherwise nil. It applies to all
	// instances. Source: OpenTofu 1.12.
	PreventDestroyIf hcl.Expression
	// Keep is set by destroy = false: an object that is no longer needed is removed from the state, but not
	// destroyed. Source: OpenTofu 1.12, Terraform 1.16.
	Keep               bool
	IgnoreChanges      []hcl.Traversal // relative
	IgnoreAllChanges   bool
	ReplaceTriggeredBy []hcl.Expression
	Preconditions      []*Condition
	Postconditions     []*Condition
	Connection         hcl.Body // nil if absent
	Provisioners       []*Provisioner
	Triggers           []*Trigger

	Range     hcl.Range // of the block's header
	TypeRange hcl.Range
}

// A Provisioner is a provisioner block.
type Provisioner struct {
	Type       string
	Body       hcl.Body
	Connection hcl.Body
	OnDestroy  bool // when = destroy
	Continue   bool // on_failure = continue
	Range      hcl.Range
}

// A Trigger is an action_trigger block of a resource. Source: Terraform 1.16.
type Trigger struct {
	Events    []Event
	Condition hcl.Expression // nil: none
	// Actions are references to actions of the module. Instance keys in them may be count.index or each.key of
	// the resource.
	Actions   []hcl.Expression
	OnFailure OnFailure
	Range     hcl.Range
}

// An Event is a moment in the life of an object at which actions are invoked.
type Event string

// The events, as JSON has them. In the language they are before_create, and so on.
const (
	BeforeCreate  Event = "BeforeCreate"
	AfterCreate   Event = "AfterCreate"
	BeforeUpdate  Event = "BeforeUpdate"
	AfterUpdate   Event = "AfterUpdate"
	BeforeDestroy Event = "BeforeDestroy"
	AfterDestroy  Event = "AfterDestroy"
)

// Before reports whether the event comes before the change of the object.
func (e Event) Before() bool { return e == BeforeCreate || e == BeforeUpdate || e == BeforeDestroy }

// Destroys reports whether the event is one of a destruction.
func (e Event) Destroys() bool { return e == BeforeDestroy || e == AfterDestroy }

// OnFailure says what an apply does after an action of a trigger has failed.
type OnFailure string

const (
	// Halt stops the change of the object, and everything that depends on the object.
	Halt OnFailure = "halt"
	// Taint is like Halt. It also marks the object, which was just created, as tainted.
	Taint OnFailure = "taint"
	// Continue reports the failure as a warning, and the apply continues.
	Continue OnFailure = "continue"
)

// A Check is a check block.
type Check struct {
	Name    string
	Data    *Resource // the scoped data source, nil if absent; also in Content.Resources
	Asserts []*Condition
	Range   hcl.Range
}
