package config

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// A Resource is a resource, data or ephemeral block.
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

// A Check is a check block.
type Check struct {
	Name    string
	Data    *Resource // the scoped data source, nil if absent; also in Content.Resources
	Asserts []*Condition
	Range   hcl.Range
}
