package validating

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/internal/traversals"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// imports checks the import blocks for a resource block, without known values. rs is the schema of the
// resource type; nil if there is none.
func (v *validator) imports(m *config.Module, r *config.Resource, rs *schema.Schema) diags.Diagnostics {
	var ds diags.Diagnostics
	for _, im := range v.imported[addrs.ConfigResource{Module: m.Addr, Resource: r.Addr}] {
		within, wrong := v.eval.Modules(im.In)
		if wrong.HasErrors() || len(within) == 0 {
			continue // the call is reported already
		}
		scope := eval.Scope{Module: within[0]}
		if im.ForEach != nil {
			ins, more := v.eval.ImportForEach(im.ForEach, scope)
			if ds = append(ds, more...); more.HasErrors() || len(ins) == 0 {
				continue
			}
			scope.Instance = &ins[0]
		}
		if more := importKey(im.Import, r); len(more) > 0 {
			ds = append(ds, more...)
		} else {
			_, more = session.Traversal(im.To, scope, "Invalid reference")
			ds = append(ds, more...)
		}
		if im.Identity != nil && (rs == nil || rs.Identity == nil) {
			continue // as in Terraform 1.16, the plan checks that
		}
		_, _, more := session.ImportKeyOf(v.eval, im.Import, rs, scope)
		ds = append(ds, more...)
	}
	return ds
}

// strayImports checks the import blocks for resources without a resource block. Lockstep can generate a block
// only for a resource in the root module without count and for_each.
func (v *validator) strayImports() diags.Diagnostics {
	var ds diags.Diagnostics
	for _, im := range v.in.Config.Imports() {
		if m := v.in.Config.Modules[im.Target.Module]; m == nil || m.Resources[im.Target.Resource] == nil {
			ds = append(ds, v.strayImport(im)...)
		}
	}
	return ds
}

func (v *validator) strayImport(im config.PlacedImport) diags.Diagnostics {
	place := im.To.Range().Ptr()
	if im.Target.Module != addrs.RootModule {
		return diags.Errorf(place, "Configuration for import target does not exist",
			"There is no block for %s, which the object is to be imported to, and one can be written only in the root module.", im.Target)
	}
	t, hs := hcl.AbsTraversalForExpr(im.To)
	if hs.HasErrors() { // the instance key is not a literal
		ins, ds := v.eval.ImportForEach(im.ForEach, eval.Scope{})
		if ds.HasErrors() || len(ins) == 0 {
			return ds
		}
		return append(ds, diags.Errorf(place, "Invalid import 'to' expression", "There is no block for %s that would have for_each.", im.Resource)...)
	}
	target, ds := traversals.ParseTarget(t)
	if ds.HasErrors() || im.ForEach == nil && target.Key.IsNone() {
		return ds
	}
	return append(ds, diags.Errorf(place, "Configuration for import target does not exist",
		"There is no block for %s, which the object is to be imported to, and none can be written by the option -generate-config-out that has count or for_each.", target)...)
}

// importKey checks that the target has the kind of instance key that the resource's instances have.
func importKey(im *config.Import, r *config.Resource) diags.Diagnostics {
	t, hs := hcl.AbsTraversalForExpr(im.To)
	if hs.HasErrors() {
		return nil // the keys are not literals
	}
	target, ds := traversals.ParseTarget(t)
	if ds.HasErrors() {
		return ds
	}
	_, isInt := target.Key.Int()
	_, isString := target.Key.Str()
	what := ""
	switch {
	case isInt && r.Count == nil:
		what = "has a number as its key, but the resource has no count"
	case isString && r.ForEach == nil:
		what = "has a string as its key, but the resource has no for_each"
	case target.Key.IsNone() && r.Count != nil:
		what = "has no key, but the resource has count: add the key of one instance"
	case target.Key.IsNone() && r.ForEach != nil:
		what = "has no key, but the resource has for_each: add the key of one instance"
	default:
		return nil
	}
	return diags.Errorf(im.To.Range().Ptr(), "Invalid import 'to' expression", "The address %s %s.", target, what)
}
