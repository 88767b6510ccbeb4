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

// Blocks are the import blocks of the root module. They are evaluated resource by resource, when the walk
// reaches the resource. They say which object an instance takes over if the state has none for it. Safe for
// concurrent use.
//
// They cannot all be evaluated before the walk. An ID may be an attribute of another resource, which must be
// visited first. And whether a target is declared depends on its count or for_each.
type Blocks struct {
	config *config.Config
	mode   plans.Mode
	eval   *eval.Evaluator
	prior  *drafts.Prior

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
	return &Blocks{config: cfg, mode: mode, eval: e, prior: prior, of: map[addrs.AbsResourceInstance]Request{}}
}

// Of returns the import of an instance, among the blocks evaluated so far; ok is false if there is none.
func (x *Blocks) Of(a addrs.AbsResourceInstance) (Request, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	im, ok := x.of[a]
	return im, ok
}

// Evaluate evaluates the import blocks for a resource with the schema rs, for each element of their for_each.
// A target must be declared, or have an object in the state. In a plan that destroys, the blocks must be
// valid, but nothing is imported. A plan that only refreshes ignores them. Source: Terraform 1.11.4.
func (x *Blocks) Evaluate(cr addrs.ConfigResource, rs *schema.Schema, declares func(addrs.AbsResourceInstance) bool) diags.Diagnostics {
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
			ds = append(ds, x.evaluate(im, rs, s, declares)...)
		}
	}
	return ds
}

// evaluate evaluates a block in one scope.
func (x *Blocks) evaluate(im *config.Import, rs *schema.Schema, s eval.Scope, declares func(addrs.AbsResourceInstance) bool) diags.Diagnostics {
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
	key, more := knownKey(x.eval, im, rs, s)
	if ds = append(ds, more...); ds.HasErrors() || x.mode == plans.DestroyMode {
		return ds
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.of[addr] = Request{key, im.Range.Ptr()}
	return ds
}

// knownKey returns the ID or the identity of an import block. The value must be known, because the provider
// is asked for the object before anything is applied. Source:
// https://developer.hashicorp.com/terraform/language/import ("must be known at plan time").
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
	for _, im := range x.config.Root.Imports {
		if hasBlock(x.config, im.Resource) || !selected(im.Resource) || found.Failed[im.Resource] {
			continue
		}
		ds = append(ds, diags.Errorf(im.To.Range().Ptr(), "Configuration for import target does not exist",
			"There is no block for %s, which the object is to be imported to. Write one, or have it written by the option -generate-config-out.", im.Resource)...)
	}
	return ds
}

// hasBlock reports whether the configuration has a block for a resource.
func hasBlock(cfg *config.Config, cr addrs.ConfigResource) bool {
	m := cfg.Modules[cr.Module]
	return m != nil && m.Resources[cr.Resource] != nil
}
