package config

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// A Resource is a resource, data or ephemeral block.
type Resource struct {
	Addr addrs.Resource
	// Body holds the provider's own arguments and blocks: without meta-arguments,
	// lifecycle, connection and provisioner blocks.
	Body hcl.Body
	Repetition
	DependsOn []hcl.Traversal
	// Provider is the configuration named by the provider argument, or implied by the type.
	Provider      addrs.LocalProviderConfig
	ProviderRange *hcl.Range // of the provider argument, nil if implied
	// ProviderKey chooses an instance of Provider, for each instance of the resource; nil if
	// there is nothing to choose from.
	ProviderKey hcl.Expression

	CreateBeforeDestroy bool
	// CreateBeforeDestroySet is set if the argument was written.
	CreateBeforeDestroySet bool
	PreventDestroy         bool
	// PreventDestroyIf is the argument if it has references; else nil. It holds for all
	// instances. Source: OpenTofu 1.12.
	PreventDestroyIf hcl.Expression
	// Keep is set by destroy = false: an object that is not wanted any more leaves the state, and stays. Source: OpenTofu 1.12, Terraform 1.16.
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
