package builtin

import (
	"context"
	"maps"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// In returns the provider as it is in a version of the language; see [New].
func In(v language.Version, remote RemoteState) provider.Client {
	if v == language.V1_11 {
		return older{terraform{remote}}
	}
	return New(remote)
}

// older is the provider of Terraform 1.11, whose terraform_data has no block store. A state with the attribute store
// makes `show -json` of Terraform 1.11.4 fail, even if the attribute is null.
type older struct{ terraform }

var olderDeclared = func() *schema.Provider {
	out, data := *declared, *dataSchema
	data.Block = &schema.Block{Attributes: dataSchema.Block.Attributes}
	out.Managed = map[string]*schema.Schema{dataType: &data}
	return &out
}()

func (older) Schema(context.Context) (*schema.Provider, diags.Diagnostics) {
	return olderDeclared, nil
}

func (o older) UpgradeState(ctx context.Context, req provider.UpgradeRequest) (cty.Value, diags.Diagnostics) {
	v, ds := o.terraform.UpgradeState(ctx, req)
	return withoutStore(v), ds
}

func (o older) Plan(ctx context.Context, req provider.PlanRequest) (provider.PlanResponse, diags.Diagnostics) {
	req.Config, req.Prior, req.Proposed = withNoStore(req.Config), withNoStore(req.Prior), withNoStore(req.Proposed)
	out, ds := o.terraform.Plan(ctx, req)
	out.Planned = withoutStore(out.Planned)
	return out, ds
}

func (o older) Apply(ctx context.Context, req provider.ApplyRequest) (provider.ApplyResponse, diags.Diagnostics) {
	req.Config, req.Prior, req.Planned = withNoStore(req.Config), withNoStore(req.Prior), withNoStore(req.Planned)
	out, ds := o.terraform.Apply(ctx, req)
	out.New = withoutStore(out.New)
	return out, ds
}

func (o older) Import(ctx context.Context, req provider.ImportRequest) ([]provider.Imported, diags.Diagnostics) {
	out, ds := o.terraform.Import(ctx, req)
	for i := range out {
		out[i].State = withoutStore(out[i].State)
	}
	return out, ds
}

func (o older) Move(ctx context.Context, req provider.MoveRequest) (provider.MoveResponse, diags.Diagnostics) {
	out, ds := o.terraform.Move(ctx, req)
	out.State = withoutStore(out.State)
	return out, ds
}

// withNoStore adds an absent block store to the value of an object. Null objects get the type that has the block.
func withNoStore(v cty.Value) cty.Value {
	switch {
	case v == cty.NilVal || !v.Type().IsObjectType():
		return v
	case v.IsNull():
		return dataSchema.Block.NullValue()
	}
	return withStore(v, cty.NullVal(storeBlock.ImpliedType()))
}

// withoutStore removes the block store from the value of an object.
func withoutStore(v cty.Value) cty.Value {
	switch {
	case v == cty.NilVal || !v.Type().IsObjectType():
		return v
	case v.IsNull():
		return olderDeclared.Managed[dataType].Block.NullValue()
	}
	attrs := maps.Clone(v.AsValueMap())
	delete(attrs, "store")
	return cty.ObjectVal(attrs)
}
