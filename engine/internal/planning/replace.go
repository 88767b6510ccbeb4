package planning

import (
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// replaceWarnings reports -replace of a whole resource, of which only instances can be
// replaced. Forgetting the key is an easy mistake, and without this warning the plan would
// look as if the request had been carried out. A resource that the configuration does not have is no
// mistake: with the same options for several configurations, -replace may be about another one.
// Source: Terraform 1.11.4.
func replaceWarnings(requested []addrs.AbsResourceInstance, expanded plans.Instances) diags.Diagnostics {
	var ds diags.Diagnostics
	for _, a := range requested {
		keys, ok := expanded.Resources[a.AbsResource()]
		if !ok || slices.Contains(keys, a.Resource.Key) || !a.Resource.Key.IsNone() {
			continue
		}
		if len(keys) == 0 {
			ds = append(ds, diags.Warningf(nil, "Incompletely-matched force-replace resource instance",
				"Your force-replace request for %s doesn't match any resource instance, because the resource has none now.", a)...)
			continue
		}
		var names []string
		for _, k := range keys {
			names = append(names, a.AbsResource().Instance(k).String())
		}
		ds = append(ds, diags.Warningf(nil, "Incompletely-matched force-replace resource instance",
			"Your force-replace request for %s doesn't match any resource instance, because there are these instances of the resource:\n  - %s\n\nUse their full addresses.", a, strings.Join(names, "\n  - "))...)
	}
	return ds
}
