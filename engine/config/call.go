package config

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// A Call is a module block.
type Call struct {
	Name    string
	Source  string
	Version []VersionConstraint
	// Args are the arguments for the child's variables.
	Args map[string]*hcl.Attribute
	Repetition
	DependsOn []hcl.Traversal
	// Providers maps configurations in the child to configurations here. nil if the
	// argument is absent: then default configurations are inherited.
	Providers   []PassedProvider
	Range       hcl.Range
	SourceRange hcl.Range
	// Address is the parsed Source; its Text is "" if that is invalid or not known yet.
	Address source.Address
	// Body holds the arguments for the child, and whatever else stands among them.
	Body hcl.Body
	// Computed holds the source and the version that are not literal; nil if both are.
	Computed *ComputedSource
}

// A ComputedSource holds the expressions of a call whose values are needed to load the module.
type ComputedSource struct {
	Source, Version hcl.Expression // nil if literal or absent
	Versioned       bool           // there is a version argument
}

// Compute returns c.Computed, which it makes if there is none.
func (c *Call) Compute() *ComputedSource {
	if c.Computed == nil {
		c.Computed = &ComputedSource{}
	}
	return c.Computed
}

// ParseSource sets Address from Source.
func (c *Call) ParseSource(versioned bool) hcl.Diagnostics {
	addr, err := source.Parse(c.Source)
	if err != nil {
		return hcl.Diagnostics{diags.HCLError(&c.SourceRange, "Invalid module source address", "%s.", diags.Capital(err.Error()))}
	}
	if versioned && addr.Kind != source.Registry {
		return hcl.Diagnostics{diags.HCLError(&c.SourceRange, "Invalid registry module source address",
			"The version argument is for modules of a registry only, and %q is no registry's address.", c.Source)}
	}
	c.Address = addr
	return nil
}

// A PassedProvider is one entry of a module call's providers argument.
type PassedProvider struct {
	InChild, InParent addrs.LocalProviderConfig
	// InParentKey chooses an instance of InParent, for each instance of the call; nil if
	// there is nothing to choose from.
	InParentKey                 hcl.Expression
	InChildRange, InParentRange hcl.Range
}
