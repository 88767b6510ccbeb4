package planning

import (
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/traversals"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/planning/drafts"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/session"
)

// imports are the import blocks of the root module, evaluated resource by resource as the walk
// comes to them: which object, by ID, an instance takes over if the state has none for it. Safe
// for concurrent use.
type imports struct {
	config *config.Config
	mode   plans.Mode
	eval   *eval.Evaluator
	prior  *drafts.Prior

	mu sync.Mutex
	of map[addrs.AbsResourceInstance]importing
}

// importing is the import of one instance.
type importing struct {
	id  string
	rng *hcl.Range // of the block
}

// at returns the import of an instance, if there is one.
func (x *imports) at(a addrs.AbsResourceInstance) (importing, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	im, ok := x.of[a]
	return im, ok
}

// evaluate evaluates the blocks for a resource, for each element of their for_each. A target
// must be declared, or have an object in the state. In a plan that destroys, the blocks
// must be valid, but nothing is imported.
func (x *imports) evaluate(cr addrs.ConfigResource, declares func(addrs.AbsResourceInstance) bool) diags.Diagnostics {
	if x.mode == plans.RefreshOnlyMode {
		return nil
	}
	var ds diags.Diagnostics
	for _, im := range x.config.Root.Imports {
		if im.Resource != cr {
			continue
		}
		scopes := []eval.Scope{{}}
		if im.ForEach != nil {
			ins, more := x.eval.ImportForEach(im.ForEach, eval.Scope{})
			if ds = append(ds, more...); more.HasErrors() {
				continue
			}
			scopes = nil
			for i := range ins {
				scopes = append(scopes, eval.Scope{Instance: &ins[i]})
			}
		}
		for _, s := range scopes {
			ds = append(ds, x.evaluateIn(im, s, declares)...)
		}
	}
	return ds
}

// evaluateIn evaluates a block in one scope.
func (x *imports) evaluateIn(im *config.Import, s eval.Scope, declares func(addrs.AbsResourceInstance) bool) diags.Diagnostics {
	t, ds := session.Traversal(im.To, s, "Invalid reference")
	if ds.HasErrors() {
		return ds
	}
	target, more := traversals.ParseTarget(t)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	addr := addrs.AbsResourceInstance{Module: target.Module, Resource: addrs.ResourceInstance{Resource: target.Resource, Key: target.Key}}
	if !declares(addr) && x.prior.Object(addrs.ResourceInstanceObject{Instance: addr}) == nil {
		return append(ds, diags.Errorf(im.To.Range().Ptr(), "Configuration for import target does not exist",
			"The configuration for the given import %s does not exist. All target instances must have an associated configuration to be imported.", addr)...)
	}
	id, more := x.id(im, s)
	if ds = append(ds, more...); ds.HasErrors() || x.mode == plans.DestroyMode {
		return ds
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.of[addr] = importing{id, im.Range.Ptr()}
	return ds
}

// id returns the ID that a block gives, which must be known.
func (x *imports) id(im *config.Import, s eval.Scope) (string, diags.Diagnostics) {
	id, known, ds := session.ImportID(x.eval, im, s)
	if !known && !ds.HasErrors() {
		ds = append(ds, session.BadImportID(im, "The import block's \"id\" argument depends on resource attributes that cannot be determined until apply, so that the import cannot be planned.")...)
	}
	return id, ds
}

// checkImports reports import blocks for resources without a block. With targets, only
// those count that the targets may name.
func (p *planner) checkImports() diags.Diagnostics {
	if p.in.Mode == plans.RefreshOnlyMode || !p.usual() {
		return nil
	}
	var ds diags.Diagnostics
	for _, im := range p.in.Config.Root.Imports {
		if !p.targeting.MayName(im.Resource) || p.in.Found.Failed[im.Resource] {
			continue // that the object cannot be read was reported by Generate
		}
		if m := p.in.Config.Modules[im.Resource.Module]; m == nil || m.Resources[im.Resource.Resource] == nil {
			ds = append(ds, diags.Errorf(im.To.Range().Ptr(), "Configuration for import target does not exist",
				"There is no block for %s, which the object is to be imported to. Write one, or have it written by the option -generate-config-out.", im.Resource)...)
		}
	}
	return ds
}
