package planning

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/generating"
)

// Generate writes resource blocks for the objects that import blocks name but that have
// no block yet. Nothing is planned: the IDs may depend on what is known without that, and
// on what the state has.
func Generate(ctx context.Context, in Input) ([]generating.Generated, diags.Diagnostics) {
	p := newPlanner(in)
	p.stored = &storedValues{p: p}
	p.s.Known = true
	var out []generating.Generated
	var ds diags.Diagnostics
	for _, im := range in.Config.Root.Imports {
		m := in.Config.Modules[im.Resource.Module]
		if m != nil && m.Resources[im.Resource.Resource] != nil {
			continue
		}
		x, more := p.generate(ctx, im)
		if ds = append(ds, more...); !more.HasErrors() {
			out = append(out, x)
		}
	}
	ds = append(ds, p.s.Diagnostics()...)
	return out, append(ds, p.s.Eval.Diagnostics()...).Unreported()
}

// generate writes the block for one import block.
func (p *planner) generate(ctx context.Context, im *config.Import) (generating.Generated, diags.Diagnostics) {
	x := generating.Generated{Addr: addrs.AbsResource{Resource: im.Resource.Resource}.Instance(addrs.NoKey)}
	if hasKey(im.To) || !im.Resource.Module.IsRoot() || im.ForEach != nil {
		return x, diags.Errorf(im.To.Range().Ptr(), "Cannot generate configuration",
			"A block can be generated for a resource of the root module, and without for_each and without an instance key, only: write the one for %s by hand.", im.Resource)
	}
	var ds diags.Diagnostics
	if x.ID, ds = p.importID(im, eval.Scope{}); ds.HasErrors() {
		return x, ds
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
		return x, append(ds, more...)
	}
	if b.client, more = p.s.Client(ctx, b.pc); more.HasErrors() {
		return x, append(ds, more...)
	}
	more = p.fetch(ctx, b, x.Addr, x.ID)
	for i := range more {
		if more[i].Subject == nil {
			more[i].Subject = im.Range.Ptr()
		}
	}
	if ds = append(ds, more...); ds.HasErrors() {
		return x, ds
	}
	o := p.object(addrs.ResourceInstanceObject{Instance: x.Addr})
	x.Text = generating.Block(r.Addr, argument, b.rs.Block, o.Value)
	return x, ds
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
