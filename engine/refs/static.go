package refs

import (
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// checkStatic returns an error for each for_each of a provider block that depends on anything but variables and
// local values. The instances of a provider configuration must be known before anything is read or created.
// Source: OpenTofu 1.9.
func (r *Refs) checkStatic() diags.Diagnostics {
	var ds diags.Diagnostics
	for _, m := range r.cfg.Order {
		for _, p := range slices.SortedFunc(maps.Values(m.Providers), func(x, y *config.Provider) int {
			return compareStrings(x.Addr.String(), y.Addr.String())
		}) {
			for i := range r.exprs[p.ForEach] {
				ref := &r.exprs[p.ForEach][i]
				if r.dynamic(m, ref) {
					rng := ref.Range()
					ds = append(ds, diags.Errorf(&rng, "Dynamic value in static context",
						"The for_each of the provider configuration %s can use only variables, and local values that depend on nothing else: %s is not known early enough.", p.Addr, ref.Object)...)
				}
			}
		}
	}
	return ds
}

// dynamic reports whether a reference depends on a resource or an output of a module, directly or through
// variables and local values.
func (r *Refs) dynamic(m *config.Module, ref *Reference) bool {
	o, ok := r.object(m, ref)
	return ok && (o.Kind != addrs.KindVariable && o.Kind != addrs.KindLocal || len(r.Resources(o)) > 0)
}
