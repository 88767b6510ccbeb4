package lab

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/lockstep-iac/lockstep/engine/provider/testdata/providers/store"
)

// token is an ephemeral resource that wants to be renewed.
type token struct{}

var (
	_ ephemeral.EphemeralResourceWithRenew = (*token)(nil)
	_ ephemeral.EphemeralResourceWithClose = (*token)(nil)
)

func (*token) Metadata(_ context.Context, _ ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = "lab_token"
}

func (*token) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"name":    schema.StringAttribute{Required: true},
		"trouble": schema.StringAttribute{Optional: true},
		"token":   schema.StringAttribute{Computed: true},
	}}
}

func (*token) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var m struct {
		Name    types.String `tfsdk:"name"`
		Trouble types.String `tfsdk:"trouble"`
		Token   types.String `tfsdk:"token"`
	}
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if err := store.Trouble(m.Trouble.ValueString()).Before(ctx, "open"); err != nil {
		resp.Diagnostics.AddError("Open failed", err.Error())
		return
	}
	m.Token = types.StringValue("token of " + m.Name.ValueString())
	resp.Diagnostics.Append(resp.Result.Set(ctx, m)...)
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, "trouble", fmt.Appendf(nil, "%q", m.Trouble.ValueString()))...)
	resp.RenewAt = time.Unix(4_000_000_000, 0)
}

func (*token) Renew(_ context.Context, _ ephemeral.RenewRequest, resp *ephemeral.RenewResponse) {
	resp.RenewAt = time.Unix(4_000_000_100, 0)
}

func (*token) Close(ctx context.Context, req ephemeral.CloseRequest, resp *ephemeral.CloseResponse) {
	trouble, diags := req.Private.GetKey(ctx, "trouble")
	resp.Diagnostics.Append(diags...)
	if string(trouble) == `"close"` {
		resp.Diagnostics.AddError("Close failed", "Asked to fail.")
	}
}
