package config

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// A RequiredProvider is an entry of required_providers: it maps a local name to a provider.
type RequiredProvider struct {
	LocalName string
	Source    addrs.Provider
	Versions  []VersionConstraint
	// Aliases are the provider configurations that the caller must pass (configuration_aliases).
	Aliases []addrs.LocalProviderConfig
	// Implied reports that there is no required_providers entry: the name only occurs in other blocks.
	Implied bool
	Range   hcl.Range
}

// A Provider is a provider block.
type Provider struct {
	Addr addrs.LocalProviderConfig
	Body hcl.Body // without alias, version and for_each
	// ForEach, if not nil, makes several instances of the configuration. It may refer only to values that are
	// known before all others. Source: OpenTofu 1.9.
	ForEach hcl.Expression
	// Versions is the deprecated version argument; nil if absent.
	Versions []VersionConstraint
	Range    hcl.Range

	// Context, if not nil, has the values for the expressions of a provider block in a test file. These
	// expressions cannot refer to the configuration.
	Context *hcl.EvalContext
	// Mocked reports that a mock replaces the provider. Nothing has to be configured then.
	Mocked bool

	// Empty reports that the block has no arguments. It is then only a placeholder for a configuration that
	// the caller may pass.
	Empty bool
}
