package validating

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/provisioning"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// removed checks the provisioners of a module's removed blocks.
func (v *validator) removed(m *config.Module, in addrs.ModuleInstance) diags.Diagnostics {
	var ds diags.Diagnostics
	// Only the state knows which instances existed, so count and each are unknown.
	scope := eval.Scope{Module: in, Self: cty.DynamicVal, Extra: map[string]cty.Value{"count": cty.DynamicVal, "each": cty.DynamicVal}}
	for _, r := range m.Removed {
		ds = append(ds, connection(r.Connection)...)
		for _, p := range r.Provisioners {
			ds = append(ds, v.provisioner(m, p, scope)...)
		}
	}
	return ds
}

// provisioners checks the provisioners and connections of a resource block.
func (v *validator) provisioners(m *config.Module, r *config.Resource, rs *schema.Schema, scope eval.Scope) diags.Diagnostics {
	if len(r.Provisioners) == 0 {
		return nil // a connection without provisioners is never used
	}
	scope.Self = cty.UnknownVal(rs.Block.ImpliedType())
	ds := connection(r.Connection)
	for _, p := range r.Provisioners {
		ds = append(ds, v.provisioner(m, p, scope)...)
	}
	return ds
}

// provisioner checks one provisioner block.
func (v *validator) provisioner(m *config.Module, p *config.Provisioner, scope eval.Scope) diags.Diagnostics {
	block := provisioning.Schema(p.Type)
	if block == nil {
		return diags.Errorf(&p.Range, "Missing required provisioner plugin",
			"There is no provisioner %q: the language has %s.", p.Type, strings.Join(provisioning.Types, ", "))
	}
	ctx, ds := v.provisionerContext(m, p, scope)
	if ds.HasErrors() {
		return ds
	}
	val, ds := block.Decode(p.Body, ctx)
	if !ds.HasErrors() {
		if err := provisioning.Check(p.Type, val); err != nil {
			ds = append(ds, diags.Errorf(&p.Range, fmt.Sprintf("Invalid %s provisioner configuration", p.Type), "%s", err)...)
		}
	}
	return append(ds, connection(p.Connection)...)
}

// provisionerContext returns the context for a provisioner's arguments. A destroy provisioner may refer only
// to the object and its key, which package config has checked.
func (v *validator) provisionerContext(m *config.Module, p *config.Provisioner, scope eval.Scope) (*hcl.EvalContext, diags.Diagnostics) {
	if p.OnDestroy {
		return v.eval.Detached(m, scope), nil
	}
	return v.eval.BlockContext(p, scope)
}

// connection checks the names of the arguments of a connection block. It does not check the values, since
// validation does not connect.
func connection(body hcl.Body) diags.Diagnostics {
	if body == nil {
		return nil
	}
	_, hs := body.Content(provisioning.Connection())
	return diags.FromHCL(hs)
}
