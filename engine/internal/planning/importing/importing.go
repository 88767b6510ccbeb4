// Package importing adds existing objects that no state has to the prior state of a plan: by import blocks
// ([Blocks]), by the import command ([Command]), and, for objects without a resource block, to generate one
// ([Generate]).
//
// The three ways differ in where an ID comes from and in what may be known at that time. They share one step,
// the [Fetcher]: the provider finds the object by its ID, and the object is read. From then on it is like any
// stored object.
//
// It refuses to know plans: the change of an imported object is planned as for any stored object. It also
// refuses to know the walk: callers open a resource block and pass a Fetcher.
package importing

import (
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/planning/drafts"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/internal/traversals"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// Blocks are the import blocks of all modules, evaluated resource by resource as the walk comes to
// them: which object, by ID, an instance takes over if the state has none for it. Safe for concurrent
// use.
//
// They cannot all be evaluated before the walk. An ID may be an attribute of another resource, which must be
// visited first. And whether a target is declared depends on its count or for_each.
type Blocks struct {
	config *config.Config
	mode   plans.Mode
	eval   *eval.Evaluator
	prior  *drafts.Prior
	blocks map[addrs.ConfigResource][]config.PlacedImport

	mu sync.Mutex
	of map[addrs.AbsResourceInstance]Request
}

// A Request is the import of one instance.
type Request struct {
	session.ImportKey
	rng *hcl.Range // range of the import block
}

// NewBlocks returns the import blocks of a configuration, not evaluated yet.
func NewBlocks(cfg *config.Config, mode plans.Mode, e *eval.Evaluator, prior *drafts.Prior) *Blocks {
	x := &Blocks{config: cfg, mode: mode, eval: e, prior: prior, blocks: map[addrs.ConfigResource][]config.PlacedImport{}, of: map[addrs.AbsResourceInstance]Request{}}
	for _, im := range cfg.Imports() {
		x.blocks[im.Target] = append(x.blocks[im.Target], im)
	}
	return x
}

// Of returns the import of an instance, among the blocks evaluated so far; ok is false if there is none.
func (x *Blocks) Of(a addrs.AbsResourceInstance) (Request, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	im, ok := x.of[a]
	return im, ok
}

// Evaluate evaluates the import blocks for the resource cr with the schema rs: for each instance of the
// module that a block is in, and for each element of the block's for_each. A target must be declared, or have
// an object in the state. In a plan that destroys, the blocks must be valid, but nothing is imported. A plan
// that only refreshes does not look at them.
// Source: Terraform 1.11.4.
func (x *Blocks) Evaluate(cr addrs.ConfigResource, rs *schema.Schema, declares func(addrs.AbsResourceInstance) bool) diags.Diagnostics {
	if x.mode == plans.RefreshOnlyMode {
		return nil
	}
	var ds diags.Diagnostics
	for _, im := range x.blocks[cr] {
		modules, more := x.eval.Modules(im.In)
		ds = append(ds, more...)
		for _, in := range modules {
			scopes, more := x.scopes(im.Import, eval.Scope{Module: in})
			ds = append(ds, more...)
			for _, s := range scopes {
				ds = append(ds, x.evaluate(im.Import, rs, s, declares)...)
			}
		}
	}
	return ds
}

// scopes returns the scopes for the elements of a block's for_each in one instance of its module.
func (x *Blocks) scopes(im *config.Import, s eval.Scope) ([]eval.Scope, diags.Diagnostics) {
	if im.ForEach == nil {
		return []eval.Scope{s}, nil
	}
	ins, ds := x.eval.ImportForEach(im.ForEach, s)
	if ds.HasErrors() {
		return nil, ds
	}
	var out []eval.Scope
	for i := range ins {
		out = append(out, eval.Scope{Module: s.Module, Instance: &ins[i]})
	}
	return out, ds
}

// evaluate evaluates a block in one scope. The function declares reports whether the configuration declares an
// instance.
func (x *Blocks) evaluate(im *config.Import, rs *schema.Schema, s eval.Scope, declares func(addrs.AbsResourceInstance) bool) diags.Diagnostics {
	t, ds := session.Traversal(im.To, s, "Invalid reference")
	if ds.HasErrors() {
		return ds
	}
	target, more := traversals.ParseTarget(t)
	if ds = append(ds, more...); ds.HasErrors() {
		return ds
	}
	addr := addrs.AbsResourceInstance{Module: within(s.Module, target.Module), Resource: addrs.ResourceInstance{Resource: target.Resource, Key: target.Key}}
	if !declares(addr) && x.prior.Object(addrs.ResourceInstanceObject{Instance: addr}) == nil {
		return append(ds, diags.Errorf(im.To.Range().Ptr(), "Configuration for import target does not exist",
			"The configuration for the given import %s does not exist. All target instances must have an associated configuration to be imported.", addr)...)
	}
	key, more := knownKey(x.eval, im, rs, s)
	if ds = append(ds, more...); ds.HasErrors() || x.mode == plans.DestroyMode {
		return ds
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if other, ok := x.of[addr]; ok && !other.same(key) {
		return append(ds, diags.Errorf(&im.Range, "Import blocks contradict each other",
			"This import block and the one at %s name different objects for %s. Remove one of them.", other.rng, addr)...)
	}
	x.of[addr] = Request{key, im.Range.Ptr()}
	return ds
}

// same reports whether r asks for its object by the same ID or identity as k.
func (r Request) same(k session.ImportKey) bool {
	if (r.Identity == cty.NilVal) != (k.Identity == cty.NilVal) {
		return false
	}
	return r.ID == k.ID && (k.Identity == cty.NilVal || r.Identity.RawEquals(k.Identity))
}

// within returns the address of the module instance inner, which is relative to m, from the root module.
func within(m, inner addrs.ModuleInstance) addrs.ModuleInstance {
	for _, s := range inner.Steps() {
		m = m.Child(s.Name, s.Key)
	}
	return m
}

// knownKey returns the ID or the identity of a block, which must be known: the provider is asked for the object before
// anything is applied. Source: https://developer.hashicorp.com/terraform/language/import ("must be known
// at plan time").
func knownKey(e *eval.Evaluator, im *config.Import, rs *schema.Schema, s eval.Scope) (session.ImportKey, diags.Diagnostics) {
	key, known, ds := session.ImportKeyOf(e, im, rs, s)
	if !known && !ds.HasErrors() {
		argument := "id"
		if im.Identity != nil {
			argument = "identity"
		}
		ds = append(ds, session.BadImportKey(im, "The import block's \""+argument+"\" argument depends on resource attributes that cannot be determined until apply, so that the import cannot be planned.")...)
	}
	return key, ds
}

// CheckTargets returns errors for import blocks whose resource has no resource block, among the selected
// resources. It leaves out blocks whose objects [Generate] could not read, which Generate has reported.
func (x *Blocks) CheckTargets(selected func(addrs.ConfigResource) bool, found Found) diags.Diagnostics {
	if x.mode == plans.RefreshOnlyMode {
		return nil
	}
	var ds diags.Diagnostics
	for _, im := range x.config.Imports() {
		if hasBlock(x.config, im.Target) || !selected(im.Target) || found.Failed[im.Target] {
			continue
		}
		remedy := "Write one in that module."
		if im.Target.Module.IsRoot() {
			remedy = "Write one, or have it written by the option -generate-config-out."
		}
		ds = append(ds, diags.Errorf(im.To.Range().Ptr(), "Configuration for import target does not exist",
			"There is no block for %s, which the object is to be imported to. %s", im.Target, remedy)...)
	}
	return ds
}

// hasBlock reports whether the configuration has a block for a resource.
func hasBlock(cfg *config.Config, cr addrs.ConfigResource) bool {
	m := cfg.Modules[cr.Module]
	return m != nil && m.Resources[cr.Resource] != nil
}
