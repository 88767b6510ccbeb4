package planning

import (
	"context"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/traversals"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/session"
)

// importTargets evaluates the import blocks for a resource: which object, by ID,
// each instance takes over if the state has none. They stand in the root module. What is
// going to be destroyed takes over nothing, but what the blocks say must be right.
func (p *planner) importTargets(b *block, spans map[addrs.AbsResource][2]int, jobs []job) diags.Diagnostics {
	if p.in.Mode == plans.RefreshOnlyMode {
		return nil
	}
	var ds diags.Diagnostics
	for _, im := range p.in.Config.Root.Imports {
		if im.Resource != b.cr {
			continue
		}
		ds = append(ds, p.importBlock(im, jobs)...)
	}
	return ds
}

// importBlock evaluates one block for each of its instances.
func (p *planner) importBlock(im *config.Import, jobs []job) diags.Diagnostics {
	scopes := []eval.Scope{{}}
	if im.ForEach != nil {
		ins, ds := p.s.Eval.ImportForEach(im.ForEach, eval.Scope{})
		if ds.HasErrors() {
			return ds
		}
		scopes = nil
		for i := range ins {
			scopes = append(scopes, eval.Scope{Instance: &ins[i]})
		}
	}
	var ds diags.Diagnostics
	for _, s := range scopes {
		ds = append(ds, p.importOne(im, s, jobs)...)
	}
	return ds
}

func (p *planner) importOne(im *config.Import, s eval.Scope, jobs []job) diags.Diagnostics {
	t, ds := session.Traversal(im.To, s, "Invalid reference")
	if ds.HasErrors() {
		return ds
	}
	target, more := traversals.ParseTarget(t)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	addr := addrs.AbsResourceInstance{Module: target.Module, Resource: addrs.ResourceInstance{Resource: target.Resource, Key: target.Key}}
	there := p.object(addrs.ResourceInstanceObject{Instance: addr}) != nil // and may go as well
	if !there && !slices.ContainsFunc(jobs, func(j job) bool { return j.addr == addr }) {
		return append(ds, diags.Errorf(im.To.Range().Ptr(), "Configuration for import target does not exist",
			"The configuration for the given import %s does not exist. All target instances must have an associated configuration to be imported.", addr)...)
	}
	id, more := p.importID(im, s)
	if ds = append(ds, more...); ds.HasErrors() || p.in.Mode == plans.DestroyMode {
		return ds
	}
	p.mu.Lock()
	p.imports[addr] = importing{id, im.Range.Ptr()}
	p.mu.Unlock()
	return ds
}

// importID returns the ID that a block gives, which must be known by now.
func (p *planner) importID(im *config.Import, s eval.Scope) (string, diags.Diagnostics) {
	id, known, ds := session.ImportID(p.s.Eval, im, s)
	if !known && !ds.HasErrors() {
		ds = append(ds, session.BadImportID(im, "The import block's \"id\" argument depends on resource attributes that cannot be determined until apply, so that the import cannot be planned.")...)
	}
	return id, ds
}

// checkImports reports import blocks for resources that have no block; with targets, for
// those that these name.
func (p *planner) checkImports() {
	if p.in.Mode == plans.RefreshOnlyMode || !p.usual() {
		return
	}
	for _, im := range p.in.Config.Root.Imports {
		if !p.targeting.MayName(im.Resource) {
			continue
		}
		if p.in.Found.Failed[im.Resource] {
			p.report(diags.Reported())
			continue
		}
		if m := p.in.Config.Modules[im.Resource.Module]; m == nil || m.Resources[im.Resource.Resource] == nil {
			p.report(diags.Errorf(im.To.Range().Ptr(), "Configuration for import target does not exist",
				"There is no block for %s, which the object is to be imported to. Write one, or have it written by the option -generate-config-out.", im.Resource))
		}
	}
}

// importing is what an import block says about one instance.
type importing struct {
	id    string
	place *hcl.Range
}

// importObject brings an object into the prior state by its ID, if an import block
// asks for it and the state has none.
func (x *instance) importObject(ctx context.Context) (*plans.Importing, diags.Diagnostics) {
	x.p.mu.Lock()
	im, ok := x.p.imports[x.addr]
	x.p.mu.Unlock()
	if !ok || x.p.object(x.object()) != nil {
		return nil, nil
	}
	if o := x.p.in.Found.Objects[x.addr]; o != nil {
		x.p.setObject(x.object(), x.block.pc, o)
		x.imported = true
		return &plans.Importing{ID: im.id}, nil
	}
	ds := x.p.fetch(ctx, x.block, x.addr, im.id)
	for i := range ds {
		if ds[i].Subject == nil {
			ds[i].Subject = im.place
		}
	}
	if ds.HasErrors() {
		return nil, ds
	}
	x.imported = true
	return &plans.Importing{ID: im.id}, ds
}
