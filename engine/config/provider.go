package config

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// A RequiredProvider maps a local name to a provider.
type RequiredProvider struct {
	LocalName string
	Source    addrs.Provider
	Versions  []VersionConstraint
	// Aliases are the configurations that the caller must pass (configuration_aliases).
	Aliases []addrs.LocalProviderConfig
	// Implied is set if there is no required_providers entry: the name is only used.
	Implied bool
	Range   hcl.Range
}

// A Provider is a provider block.
type Provider struct {
	Addr addrs.LocalProviderConfig
	Body hcl.Body // without alias, version and for_each
	// ForEach makes several instances of the configuration, if it is not nil. It may
	// refer only to values that are known before all others. Source: OpenTofu 1.9.
	ForEach hcl.Expression
	// Versions is the version argument of old, nil if absent.
	Versions []VersionConstraint
	Range    hcl.Range

	// Context, if it is not nil, is for a block of a test file: its expressions refer to nothing of the configuration.
	Context *hcl.EvalContext
	// Mocked is set if a mock takes the provider's place. There is nothing to configure.
	Mocked bool

	// Empty is set for a block without arguments: a mere placeholder for a configuration
	// that the caller may pass.
	Empty bool
}
