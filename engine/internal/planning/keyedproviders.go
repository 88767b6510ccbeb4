package planning

import (
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// keyedProviders returns a warning if the state gets objects of a provider block with for_each, and has none so
// far. Terraform cannot read the address of such a provider configuration: it takes the state as empty, and
// creates all objects again. There is no warning in a root module that uses OpenTofu, which writes the same.
// Source: Terraform 1.16.0-rc2, OpenTofu 1.12.6.
func (p *planner) keyedProviders(changes []*plans.ResourceChange) diags.Diagnostics {
	if p.in.Private || p.in.Config.Root.Registry == addrs.OpenTofuRegistryHost || p.in.State.KeyedProviders() {
		return nil
	}
	i := slices.IndexFunc(changes, func(c *plans.ResourceChange) bool { return !c.Provider.Key.IsNone() })
	if i < 0 {
		return nil
	}
	return diags.Warningf(nil, "Terraform will not be able to read the state",
		"%s uses an instance of a provider block with for_each (%s). Only Lockstep and OpenTofu know such provider blocks: Terraform takes a state with their objects as empty, and creates everything again. If Terraform also uses this state, do not apply, and write a provider block with an alias for each instance.",
		changes[i].Addr, changes[i].Provider)
}
