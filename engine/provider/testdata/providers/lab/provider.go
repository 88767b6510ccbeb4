// Package lab is a provider for tests, built on terraform-plugin-framework. It has
// one of each: a resource type with most of what schemas can say, a data source, an
// ephemeral resource type, functions. Objects live in a package store; troubles of
// all kinds can be ordered by an attribute.
package lab

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/metaschema"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/lockstep-iac/lockstep/engine/provider/testdata/providers/store"
)

// New returns the provider.
func New() provider.Provider { return &lab{} }

type lab struct{}

var (
	_ provider.ProviderWithMetaSchema         = (*lab)(nil)
	_ provider.ProviderWithFunctions          = (*lab)(nil)
	_ provider.ProviderWithEphemeralResources = (*lab)(nil)
)

// remote is what a configured provider gives to its resources.
type remote struct {
	*store.Store
	region string
}

func (*lab) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "lab"
}

func (*lab) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"region":  schema.StringAttribute{Optional: true, Description: "Where objects are made."},
		"trouble": schema.StringAttribute{Optional: true, Description: "validate or configure: to fail there"},
	}}
}

// MetaSchema is that of the provider_meta block: it says which module makes objects.
func (*lab) MetaSchema(_ context.Context, _ provider.MetaSchemaRequest, resp *provider.MetaSchemaResponse) {
	resp.Schema = metaschema.Schema{Attributes: map[string]metaschema.Attribute{
		"module": metaschema.StringAttribute{Optional: true},
	}}
}

func (*lab) ValidateConfig(ctx context.Context, req provider.ValidateConfigRequest, resp *provider.ValidateConfigResponse) {
	var trouble types.String
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("trouble"), &trouble)...)
	if store.Trouble(trouble.ValueString()).Before(ctx, "validate") != nil {
		resp.Diagnostics.AddAttributeError(path.Root("trouble"), "Invalid provider configuration", "Asked to fail.")
	}
}

func (*lab) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var config struct {
		Region  types.String `tfsdk:"region"`
		Trouble types.String `tfsdk:"trouble"`
	}
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if err := store.Trouble(config.Trouble.ValueString()).Before(ctx, "configure"); err != nil {
		resp.Diagnostics.AddError("Cannot configure", err.Error())
		return
	}
	r := &remote{Store: store.FromEnv(), region: "here"}
	if s := config.Region.ValueString(); s != "" {
		r.region = s
	}
	resp.ResourceData, resp.DataSourceData = r, r
}

func (*lab) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return &thing{} }}
}

func (*lab) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{func() datasource.DataSource { return &thingData{} }}
}

func (*lab) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{func() ephemeral.EphemeralResource { return &token{} }}
}

func (*lab) Functions(context.Context) []func() function.Function {
	return []func() function.Function{
		func() function.Function { return join{} },
		func() function.Function { return failing{} },
	}
}
