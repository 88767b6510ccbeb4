package config

import (
	"cmp"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// checkProviders checks what callers pass to modules against what these declare.
func (c *Config) checkProviders() hcl.Diagnostics {
	return nil
}

func compareLocal(a, b addrs.LocalProviderConfig) int {
	return cmp.Or(cmp.Compare(a.LocalName, b.LocalName), cmp.Compare(a.Alias, b.Alias))
}
