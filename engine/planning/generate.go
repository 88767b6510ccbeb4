package planning

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/generating"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Found holds the objects that [Generate] read. A plan with the generated blocks need not ask for
// these objects a second time. Failures were reported by Generate; the plan does not report the
// missing blocks again.
type Found struct {
	Objects map[addrs.AbsResourceInstance]*states.Object
	Failed  map[addrs.ConfigResource]bool // for these there is no block
}

// Generate writes resource blocks for the objects of import blocks that have no resource block yet.
// Nothing is planned: the IDs may depend on known values and on the state. If some objects cannot be
// read, the blocks of the others are returned beside the errors. If an import block cannot have a
// resource block generated at all, no object is read, and found is empty.
func Generate(ctx context.Context, in Input) (blocks []generating.Generated, found Found, ds diags.Diagnostics) {
	p := newPlanner(ctx, in)
	p.valueOf = p.storedValue
	p.s.Known = true
	var lacking []*config.Import
	for _, im := range in.Config.Root.Imports {
		if m := in.Config.Modules[im.Resource.Module]; m == nil || m.Resources[im.Resource.Resource] == nil {
			lacking = append(lacking, im)
			ds = append(ds, generatable(im)...)
		}
	}
	if ds.HasErrors() {
		return nil, Found{}, ds
	}
	found = Found{map[addrs.AbsResourceInstance]*states.Object{}, map[addrs.ConfigResource]bool{}}
	for _, im := range lacking {
		x, o, more := p.generate(ctx, im)
		ds = append(ds, more...)
		if more.HasErrors() {
			found.Failed[im.Resource] = true
			continue
		}
		blocks = append(blocks, x)
		found.Objects[x.Addr] = o
	}
	ds = append(ds, p.s.Diagnostics()...)
	return blocks, found, append(ds, p.s.Eval.Diagnostics()...).Unreported()
}

// generatable refuses an import block for which no resource block can be written.
func generatable(im *config.Import) diags.Diagnostics {
	if !hasKey(im.To) && im.Resource.Module.IsRoot() && im.ForEach == nil {
		return nil
	}
	return diags.Errorf(im.To.Range().Ptr(), "Cannot generate configuration",
		"A block can be generated for a resource of the root module, and without for_each and without an instance key, only: write the one for %s by hand.", im.Resource)
}

// generate reads the object of one import block, and writes the block for it.
func (p *planner) generate(ctx context.Context, im *config.Import) (generating.Generated, *states.Object, diags.Diagnostics) {
	x := generating.Generated{Addr: addrs.AbsResource{Resource: im.Resource.Resource}.Instance(addrs.NoKey)}
	var ds diags.Diagnostics
	if x.ID, ds = p.imports.id(im, eval.Scope{}); ds.HasErrors() {
		return x, nil, ds
	}
	root := p.in.Config.Root
	r := &config.Resource{Addr: im.Resource.Resource, Provider: addrs.LocalProviderConfig{LocalName: im.Resource.Resource.ImpliedProvider()}, Range: im.Range, TypeRange: im.To.Range()}
	argument := ""
	if im.Provider != nil {
		r.Provider, argument = *im.Provider, im.Provider.String()
	}
	b := &block{p: p, m: root, cr: im.Resource, pc: root.ResourceProvider(r)}
	var more diags.Diagnostics
	if b.rs, b.ps, more = p.s.Schema(ctx, b.pc.Provider, r.Addr, r.TypeRange.Ptr()); more.HasErrors() {
		return x, nil, append(ds, more...)
	}
	if b.client, more = p.s.Client(ctx, b.pc); more.HasErrors() {
		return x, nil, append(ds, more...)
	}
	more = b.fetch(ctx, x.Addr, x.ID)
	for i := range more {
		if more[i].Subject == nil {
			more[i].Subject = im.Range.Ptr()
		}
	}
	if ds = append(ds, more...); ds.HasErrors() {
		return x, nil, ds
	}
	o := p.prior.Object(addrs.ResourceInstanceObject{Instance: x.Addr})
	x.Text = generating.Block(r.Addr, argument, b.rs.Block, o.Value)
	return x, o, ds
}

// hasKey reports whether an address ends in an instance key, or is no literal.
func hasKey(x hcl.Expression) bool {
	t, hs := hcl.AbsTraversalForExpr(x)
	if hs.HasErrors() {
		return true
	}
	_, indexed := t[len(t)-1].(hcl.TraverseIndex)
	return indexed
}
