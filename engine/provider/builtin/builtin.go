// Package builtin is the provider terraform.io/builtin/terraform, which is part of the engine. It has the
// managed resource type terraform_data, the data source terraform_remote_state, and the functions
// encode_tfvars, decode_tfvars and encode_expr.
//
// The package does not depend on backends: the caller of New passes the function that reads another state's
// outputs. Start at [New].
package builtin

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// terraform is the provider. It has no state of its own, so one value can serve every configuration.
type terraform struct {
	remote RemoteState
}

var _ provider.Client = terraform{}

// New returns the provider. If remote is nil, reading terraform_remote_state is an error diagnostic.
func New(remote RemoteState) provider.Client { return terraform{remote} }

// declared is the provider's schema, shared by all clients.
var declared = &schema.Provider{
	Provider: &schema.Schema{Block: &schema.Block{}},
	Managed:  map[string]*schema.Schema{dataType: dataSchema},
	Data:     map[string]*schema.Schema{remoteStateType: remoteStateSchema},
	Functions: map[string]*schema.Function{
		"encode_tfvars": encodeTfvars.declared,
		"decode_tfvars": decodeTfvars.declared,
		"encode_expr":   encodeExpr.declared,
	},
	MoveResourceState: true,
}

func (terraform) Schema(context.Context) (*schema.Provider, diags.Diagnostics) {
	return declared, nil
}

func (terraform) ValidateProvider(context.Context, cty.Value) diags.Diagnostics { return nil }
func (terraform) Configure(context.Context, cty.Value) diags.Diagnostics        { return nil }
func (terraform) Stop(context.Context) error                                    { return nil }
func (terraform) Close() error                                                  { return nil }

// recovered turns a panic of this package into a diagnostic without a place. The caller adds the place, as
// for other diagnostics. A crash of a plugin ends only the plugin's process; a crash here would end the run.
func recovered(ds *diags.Diagnostics) {
	if r := recover(); r != nil {
		*ds = diags.Errorf(nil, "The built-in provider crashed", "%v. This is a bug in Lockstep: please report it, with this block.", r)
	}
}

// unsupported returns the error for a type name that the provider does not have. The engine looks up names in
// the schema first.
func unsupported(kind, typeName string) diags.Diagnostics {
	return diags.Errorf(nil, "Unsupported "+kind,
		"The built-in provider has no %s named %q.", kind, typeName)
}

func (terraform) ValidateResource(_ context.Context, typeName string, config cty.Value) (ds diags.Diagnostics) {
	defer recovered(&ds)
	if typeName != dataType {
		return unsupported("resource type", typeName)
	}
	return validateData(config)
}

func (terraform) UpgradeState(_ context.Context, req provider.UpgradeRequest) (_ cty.Value, ds diags.Diagnostics) {
	defer recovered(&ds)
	if req.TypeName != dataType {
		return cty.NilVal, unsupported("resource type", req.TypeName)
	}
	return upgradeData(req)
}

// UpgradeIdentity is never called: the types have no identities.
func (terraform) UpgradeIdentity(_ context.Context, req provider.UpgradeIdentityRequest) (cty.Value, diags.Diagnostics) {
	return cty.NilVal, unsupported("resource type with identities", req.TypeName)
}

func (terraform) Read(_ context.Context, req provider.ReadRequest) (provider.ReadResponse, diags.Diagnostics) {
	if req.TypeName != dataType {
		return provider.ReadResponse{}, unsupported("resource type", req.TypeName)
	}
	return provider.ReadResponse{New: req.Prior, Private: req.Private}, nil
}

func (terraform) Plan(_ context.Context, req provider.PlanRequest) (_ provider.PlanResponse, ds diags.Diagnostics) {
	defer recovered(&ds)
	if req.TypeName != dataType {
		return provider.PlanResponse{}, unsupported("resource type", req.TypeName)
	}
	return planData(req)
}

func (terraform) Apply(_ context.Context, req provider.ApplyRequest) (_ provider.ApplyResponse, ds diags.Diagnostics) {
	defer recovered(&ds)
	if req.TypeName != dataType {
		return provider.ApplyResponse{New: req.Prior, Private: req.Private}, unsupported("resource type", req.TypeName)
	}
	return applyData(req), nil
}

func (terraform) Import(_ context.Context, req provider.ImportRequest) ([]provider.Imported, diags.Diagnostics) {
	if req.TypeName != dataType {
		return nil, unsupported("resource type", req.TypeName)
	}
	return []provider.Imported{{TypeName: dataType, State: importData(req.ID)}}, nil
}

func (terraform) Move(_ context.Context, req provider.MoveRequest) (_ provider.MoveResponse, ds diags.Diagnostics) {
	defer recovered(&ds)
	if req.TargetType != dataType {
		return provider.MoveResponse{}, unsupported("resource type", req.TargetType)
	}
	return moveData(req)
}

func (terraform) ValidateData(_ context.Context, typeName string, config cty.Value) (ds diags.Diagnostics) {
	defer recovered(&ds)
	if typeName != remoteStateType {
		return unsupported("data source", typeName)
	}
	return validateRemoteState(config)
}

func (t terraform) ReadData(ctx context.Context, typeName string, config, _ cty.Value) (_ cty.Value, ds diags.Diagnostics) {
	defer recovered(&ds)
	if typeName != remoteStateType {
		return cty.NilVal, unsupported("data source", typeName)
	}
	return readRemoteState(ctx, t.remote, config)
}

func (terraform) ValidateEphemeral(_ context.Context, typeName string, _ cty.Value) diags.Diagnostics {
	return unsupported("ephemeral resource type", typeName)
}

func (terraform) OpenEphemeral(_ context.Context, typeName string, _ cty.Value) (provider.OpenResponse, diags.Diagnostics) {
	return provider.OpenResponse{}, unsupported("ephemeral resource type", typeName)
}

func (terraform) RenewEphemeral(_ context.Context, typeName string, _ []byte) (provider.RenewResponse, diags.Diagnostics) {
	return provider.RenewResponse{}, unsupported("ephemeral resource type", typeName)
}

func (terraform) CloseEphemeral(_ context.Context, typeName string, _ []byte) diags.Diagnostics {
	return unsupported("ephemeral resource type", typeName)
}

func (terraform) ValidateList(_ context.Context, req provider.ListRequest) diags.Diagnostics {
	return unsupported("list resource type", req.TypeName)
}

func (terraform) List(_ context.Context, req provider.ListRequest, _ func(provider.Listed) bool) diags.Diagnostics {
	return unsupported("list resource type", req.TypeName)
}

// GenerateConfig is never called: the schema does not announce it.
func (terraform) GenerateConfig(_ context.Context, typeName string, _ cty.Value) (cty.Value, diags.Diagnostics) {
	return cty.NilVal, unsupported("generation of configuration for", typeName)
}

func (terraform) ValidateAction(_ context.Context, typeName string, _ cty.Value) diags.Diagnostics {
	return unsupported("action", typeName)
}

func (terraform) PlanAction(_ context.Context, typeName string, _ cty.Value) diags.Diagnostics {
	return unsupported("action", typeName)
}

func (terraform) InvokeAction(_ context.Context, typeName string, _ cty.Value, _ func(string)) (provider.InvokeResponse, diags.Diagnostics) {
	return provider.InvokeResponse{}, unsupported("action", typeName)
}
