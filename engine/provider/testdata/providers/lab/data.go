package lab

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// thingData finds a thing by its name.
type thingData struct{ remote *remote }

var _ datasource.DataSourceWithConfigure = (*thingData)(nil)

func (*thingData) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = kind
}

func (*thingData) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"name":   schema.StringAttribute{Required: true},
		"id":     schema.StringAttribute{Computed: true},
		"color":  schema.StringAttribute{Computed: true},
		"secret": schema.StringAttribute{Computed: true, Sensitive: true},
	}}
}

func (d *thingData) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	d.remote, _ = req.ProviderData.(*remote)
}

func (d *thingData) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m struct {
		Name   types.String `tfsdk:"name"`
		ID     types.String `tfsdk:"id"`
		Color  types.String `tfsdk:"color"`
		Secret types.String `tfsdk:"secret"`
	}
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	obj, err := d.remote.Find(kind, m.Name.ValueString())
	if err != nil || obj == nil {
		resp.Diagnostics.AddAttributeError(path.Root("name"), "Thing not found", fmt.Sprintf("There is no thing %s (%v).", m.Name, err))
		return
	}
	m.ID = types.StringPointerValue(obj.Text("id"))
	m.Color = types.StringPointerValue(obj.Text("color"))
	m.Secret = types.StringPointerValue(obj.Text("secret"))
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}
