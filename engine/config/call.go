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
	// Args are the arguments for the variables of the called module.
	Args map[string]*hcl.Attribute
	Repetition
	DependsOn []hcl.Traversal
	// Providers has the argument providers: it maps provider configurations of the called module to provider
	// configurations of the caller. It is nil if the argument is absent: the called module then inherits
	// default configurations.
	Providers   []PassedProvider
	Range       hcl.Range
	SourceRange hcl.Range
	// Address is the parsed Source. Its Text is "" if Source is invalid or not known yet.
	Address source.Address
	// Body has all arguments and blocks of the module block that are not meta-arguments: the arguments for the
	// called module, and misplaced blocks.
	Body hcl.Body
	// Computed has the expressions of source and version if they are not literal. It is nil if both are
	// literal.
	Computed *ComputedSource
}

// A ComputedSource has those expressions of a module call whose values are needed to load the module.
type ComputedSource struct {
	Source, Version hcl.Expression // nil if literal or absent
	Versioned       bool           // there is a version argument
}

// Compute returns c.Computed. If it is nil, Compute first creates it.
func (c *Call) Compute() *ComputedSource {
	if c.Computed == nil {
		c.Computed = &ComputedSource{}
	}
	return c.Computed
}

// ParseSource sets Address from Source. versioned reports whether the call has a version argument, which only
// registry modules may have. registry is the host of addresses without a host; see [Content].
func (c *Call) ParseSource(versioned bool, registry string) hcl.Diagnostics {
	addr, err := source.ParseIn(registry, c.Source)
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
	// InParentKey selects an instance of the provider configuration InParent, for each instance of the call. It
	// is nil if InParent has only one instance.
	InParentKey                 hcl.Expression
	InChildRange, InParentRange hcl.Range
}
