package importing

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/generating"
	"github.com/lockstep-iac/lockstep/engine/internal/planning/drafts"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Found has the objects that [Generate] read. A plan with the generated blocks need not read these objects
// again. Generate has reported the failures; the plan does not report the missing blocks again.
type Found struct {
	Objects map[addrs.AbsResourceInstance]*states.Object
	Failed  map[addrs.ConfigResource]bool // resources for which no block was generated
}

// A Lack is the input of [Generate]: a configuration that lacks blocks, and everything that generating them
// depends on.
type Lack struct {
	session.Environment
	State     *states.State
	Variables map[string]cty.Value // values of the root module's variables, converted
}

// Generate writes resource blocks for the objects of import blocks that have no resource block yet. Nothing is
// planned: the IDs may depend only on known values and on the state. If some objects cannot be read, Generate
// returns the blocks of all other objects, with the errors. If no resource block can be generated for an import
// block, no object is read, and found is empty.
func Generate(ctx context.Context, in Lack) (blocks []generating.Generated, found Found, ds diags.Diagnostics) {
	g := generator{prior: drafts.NewPrior(in.State)}
	g.s = drafts.OpenStored(ctx, in.Environment, in.Variables, g.prior)
	g.s.Known = true
	var lacking []*config.Import
	for _, im := range in.Config.Imports() {
		if !hasBlock(in.Config, im.Target) {
			lacking = append(lacking, im.Import)
			ds = append(ds, generatable(im)...)
		}
	}
	if ds.HasErrors() {
		return nil, Found{}, ds
	}
	found = Found{map[addrs.AbsResourceInstance]*states.Object{}, map[addrs.ConfigResource]bool{}}
	for _, im := range lacking {
		x, o, more := g.block(ctx, im)
		ds = append(ds, more...)
		if more.HasErrors() {
			found.Failed[im.Resource] = true
			continue
		}
		blocks = append(blocks, x)
		found.Objects[x.Addr] = o
	}
	ds = append(ds, g.s.Diagnostics()...)
	return blocks, found, append(ds, g.s.Eval.Diagnostics()...).Unreported()
}

// generatable refuses an import block for which no resource block can be written.
func generatable(im config.PlacedImport) diags.Diagnostics {
	if !hasKey(im.To) && im.Target.Module.IsRoot() && im.ForEach == nil {
		return nil
	}
	return diags.Errorf(im.To.Range().Ptr(), "Cannot generate configuration",
		"A block can be generated for a resource of the root module, and without for_each and without an instance key, only: write the one for %s by hand.", im.Target)
}

// A generator writes blocks for objects. It reads the objects into a prior state of its own.
type generator struct {
	s     *session.Session
	prior *drafts.Prior
}

// block reads the object of one import block, and writes the block for it.
//
// Opening the provider needs a resource block, but there is none. So the method uses an empty block with the
// provider configuration of the block to write: the one that the import block names, or else the default one
// of the type.
func (g generator) block(ctx context.Context, im *config.Import) (generating.Generated, *states.Object, diags.Diagnostics) {
	x := generating.Generated{Addr: addrs.AbsResource{Resource: im.Resource.Resource}.Instance(addrs.NoKey)}
	r := &config.Resource{Addr: im.Resource.Resource, Provider: addrs.LocalProviderConfig{LocalName: im.Resource.Resource.ImpliedProvider()}, Range: im.Range, TypeRange: im.To.Range()}
	argument := ""
	if im.Provider != nil && *im.Provider != r.Provider {
		r.Provider, argument = *im.Provider, im.Provider.String()
	}
	f := Fetcher{Session: g.s, Prior: g.prior, Provider: g.s.Config.Root.ResourceProvider(r)}
	var ds, more diags.Diagnostics
	if f.Schema, _, ds = g.s.Schema(ctx, f.Provider.Provider, r.Addr, r.TypeRange.Ptr()); ds.HasErrors() {
		return x, nil, ds
	}
	key, more := knownKey(g.s.Eval, im, f.Schema, eval.Scope{})
	if ds = append(ds, more...); more.HasErrors() {
		return x, nil, ds
	}
	x.ID = key.Shown()
	if f.Client, more = g.s.Client(ctx, f.Provider); more.HasErrors() {
		return x, nil, append(ds, more...)
	}
	if ds = append(ds, f.FetchFor(ctx, x.Addr, Request{key, im.Range.Ptr()})...); ds.HasErrors() {
		return x, nil, ds
	}
	o := g.prior.Object(addrs.ResourceInstanceObject{Instance: x.Addr})
	x.Text = generating.Block(r.Addr, argument, f.Schema.Block, o.Value)
	return x, o, ds
}

// hasKey reports whether an address ends in an instance key, or is not a literal.
func hasKey(x hcl.Expression) bool {
	t, hs := hcl.AbsTraversalForExpr(x)
	if hs.HasErrors() {
		return true
	}
	_, indexed := t[len(t)-1].(hcl.TraverseIndex)
	return indexed
}
