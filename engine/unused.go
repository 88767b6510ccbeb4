package engine

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// unusedProviders returns the provider blocks that nothing uses: neither the configuration, nor the resources
// of the state that the configuration no longer has. state may be nil.
func unusedProviders(cfg *config.Config, state *states.State) map[*config.Provider]bool {
	var others []addrs.AbsProviderConfig
	if state != nil {
		for abs, r := range state.Resources() {
			if m := cfg.Modules[abs.Module.Module()]; m == nil || m.Resources[abs.Resource] == nil {
				others = append(others, r.Provider)
			}
		}
	}
	return cfg.UnusedProviders(others)
}
