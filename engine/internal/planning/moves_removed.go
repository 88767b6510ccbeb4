package planning

import (
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// removedBlock reports whether a removed block names a resource, or a module around it, and is as wanted.
func removedBlock(cfg *config.Config, cr addrs.ConfigResource, wanted func(*config.Removed) bool) bool {
	for _, m := range cfg.Order {
		for _, r := range m.Removed {
			mod, res := r.Static(m.Addr)
			if wanted(r) && (r.From.IsModule() && mod.Contains(cr.Module) || mod == cr.Module && res == cr.Resource) {
				return true
			}
		}
	}
	return false
}

// removedBlockForgets reports whether the objects of a resource are removed from the state, but not destroyed.
func removedBlockForgets(cfg *config.Config, cr addrs.ConfigResource) bool {
	return removedBlock(cfg, cr, func(r *config.Removed) bool { return !r.Destroy })
}

// removedBlockDestroys reports whether a removed block says destroy = true. It then decides over the setting in
// the state; see [block.keeps].
func removedBlockDestroys(cfg *config.Config, cr addrs.ConfigResource) bool {
	return removedBlock(cfg, cr, func(r *config.Removed) bool { return r.Destroy && r.Explicit })
}

// checkRemovedBlocks returns errors for removed blocks that name modules and resources that are still
// declared.
func checkRemovedBlocks(cfg *config.Config) diags.Diagnostics {
	var ds diags.Diagnostics
	for _, m := range cfg.Order {
		for _, r := range m.Removed {
			mod, res := r.Static(m.Addr)
			target := cfg.Modules[mod]
			switch {
			case target == nil:
			case r.From.IsModule():
				ds = append(ds, diags.Errorf(&target.Call.Range, "Removed module still exists",
					"The statement at %s declares that %s was removed, but it is still declared here. Take out this module block, or that statement.", r.Range, r.From)...)
			case target.Resources[res] != nil:
				ds = append(ds, diags.Errorf(&target.Resources[res].Range, "Removed resource still exists",
					"The statement at %s declares that %s was removed, but it is still declared here. Take out this resource block, or that statement.", r.Range, r.From)...)
			}
		}
	}
	return ds
}
