package lab

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/lockstep-iac/lockstep/engine/provider/testdata/providers/store"
)

const kind = "lab_thing"

// privateKey is where the private data hold the object's ID, to notice when the
// private data of objects are mixed up.
const privateKey = "id"

type thing struct{ remote *remote }

var (
	_ resource.ResourceWithConfigure      = (*thing)(nil)
	_ resource.ResourceWithImportState    = (*thing)(nil)
	_ resource.ResourceWithModifyPlan     = (*thing)(nil)
	_ resource.ResourceWithMoveState      = (*thing)(nil)
	_ resource.ResourceWithUpgradeState   = (*thing)(nil)
	_ resource.ResourceWithValidateConfig = (*thing)(nil)
)

func (*thing) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = kind
}

func (*thing) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = thingSchema()
}

func (t *thing) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	t.remote, _ = req.ProviderData.(*remote)
}

func (*thing) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	if err := trouble(ctx, req.Config.GetAttribute).Before(ctx, "validate"); err != nil {
		resp.Diagnostics.AddAttributeError(path.Root("trouble"), "Invalid thing", err.Error())
	}
	var rules []rule
	if diags := req.Config.GetAttribute(ctx, path.Root("rule"), &rules); diags.HasError() {
		return // not known yet
	}
	for i, r := range rules {
		if r.Port.ValueInt64() < 0 {
			resp.Diagnostics.AddAttributeError(path.Root("rule").AtListIndex(i).AtName("port"), "Invalid port", "Ports are positive.")
		}
	}
}

func (*thing) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	op, get := "plan", req.Plan.GetAttribute
	if req.Plan.Raw.IsNull() {
		op, get = "plan-delete", req.State.GetAttribute
	}
	if err := trouble(ctx, get).Before(ctx, op); err != nil {
		resp.Diagnostics.AddError("Cannot plan", err.Error())
	}
}

func (t *thing) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m, config model
	var meta struct {
		Module types.String `tfsdk:"module"`
	}
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if !req.ProviderMeta.Raw.IsNull() {
		resp.Diagnostics.Append(req.ProviderMeta.Get(ctx, &meta)...)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	tr := store.Trouble(m.Trouble.ValueString())
	if err := tr.Before(ctx, "create"); err != nil {
		resp.Diagnostics.AddError("Create failed", err.Error())
		return
	}
	id, err := t.remote.NewID(kind, m.Name.ValueString())
	if err != nil {
		resp.Diagnostics.AddError("Create failed", err.Error())
		return
	}
	m.ID = types.StringValue(id)
	m.Module = meta.Module
	if m.Region.IsUnknown() {
		m.Region = types.StringValue(t.remote.region)
	}
	t.write(ctx, &m, config.PasswordWO, 1, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, privateKey, fmt.Appendf(nil, "%q", id))...)
	if err := tr.After("create"); err != nil {
		resp.Diagnostics.AddError("Create failed", err.Error())
	}
}

func (t *thing) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m model
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	id := m.ID.ValueString()
	private, diags := req.Private.GetKey(ctx, privateKey)
	resp.Diagnostics.Append(diags...)
	if len(private) > 0 && string(private) != fmt.Sprintf("%q", id) {
		resp.Diagnostics.AddError("Wrong private data", fmt.Sprintf("%s was given with the private data of %s.", id, private))
	}
	if err := store.Trouble(m.Trouble.ValueString()).Before(ctx, "read"); err != nil {
		resp.Diagnostics.AddError("Read failed", err.Error())
	}
	obj, err := t.remote.Get(kind, id)
	if err != nil {
		resp.Diagnostics.AddError("Read failed", err.Error())
	}
	if resp.Diagnostics.HasError() {
		return
	}
	if obj == nil {
		resp.State.RemoveResource(ctx)
		return
	}
	m.Name = types.StringPointerValue(obj.Text("name"))
	m.Color = types.StringPointerValue(obj.Text("color"))
	m.Secret = types.StringPointerValue(obj.Text("secret"))
	m.Tier = types.StringPointerValue(obj.Text("tier"))
	m.Region = types.StringPointerValue(obj.Text("region"))
	m.Module = types.StringPointerValue(obj.Text("module"))
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (t *thing) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var m, config model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	tr := store.Trouble(m.Trouble.ValueString())
	if err := tr.Before(ctx, "update"); err != nil {
		resp.Diagnostics.AddError("Update failed", err.Error())
		return
	}
	obj, err := t.remote.Get(kind, m.ID.ValueString())
	if err != nil || obj == nil {
		resp.Diagnostics.AddError("Update failed", fmt.Sprintf("The thing is gone (%v).", err))
		return
	}
	revision, _ := obj["revision"].(float64)
	t.write(ctx, &m, config.PasswordWO, int(revision)+1, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
	if err := tr.After("update"); err != nil {
		resp.Diagnostics.AddError("Update failed", err.Error())
	}
}

func (t *thing) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m model
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	err := store.Trouble(m.Trouble.ValueString()).Before(ctx, "delete")
	if err == nil {
		err = t.remote.Delete(kind, m.ID.ValueString())
	}
	if err != nil {
		resp.Diagnostics.AddError("Delete failed", err.Error())
	}
}

// write fills in what is computed, and stores the thing.
func (t *thing) write(ctx context.Context, m *model, password types.String, revision int, diags *diag.Diagnostics) {
	m.Tier = types.StringValue(fmt.Sprintf("tier %d", revision))
	if !m.Shape.IsNull() {
		var s shape
		diags.Append(m.Shape.As(ctx, &s, basetypes.ObjectAsOptions{})...)
		s.Area = types.Int64Value(s.Width.ValueInt64() * s.Width.ValueInt64())
		obj, d := types.ObjectValueFrom(ctx, m.Shape.AttributeTypes(ctx), s)
		diags.Append(d...)
		m.Shape = obj
	}
	if !m.Rule.IsNull() {
		var rules []rule
		diags.Append(m.Rule.ElementsAs(ctx, &rules, false)...)
		for i := range rules {
			if rules[i].Host.IsUnknown() {
				rules[i].Host = types.StringValue("host of " + m.Name.ValueString())
			}
		}
		list, d := types.ListValueFrom(ctx, m.Rule.ElementType(ctx), rules)
		diags.Append(d...)
		m.Rule = list
	}
	err := t.remote.Put(kind, m.ID.ValueString(), store.Object{
		"id": m.ID.ValueString(), "name": m.Name.ValueString(), "color": m.Color.ValueStringPointer(),
		"secret": m.Secret.ValueStringPointer(), "password": password.ValueStringPointer(), "tier": m.Tier.ValueString(),
		"region": m.Region.ValueString(), "module": m.Module.ValueStringPointer(), "revision": float64(revision),
	})
	if err != nil {
		diags.AddError("Write failed", err.Error())
	}
}

func (t *thing) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	obj, err := t.remote.Get(kind, req.ID)
	if err != nil || obj == nil {
		resp.Diagnostics.AddError("Cannot import", fmt.Sprintf("There is no thing %q (%v).", req.ID, err))
		return
	}
	resource.ImportStatePassthroughID(ctx, path.Root("id"), req, resp)
}

func (*thing) UpgradeState(context.Context) map[int64]resource.StateUpgrader {
	old := oldSchema()
	return map[int64]resource.StateUpgrader{0: {
		PriorSchema: &old,
		StateUpgrader: func(ctx context.Context, req resource.UpgradeStateRequest, resp *resource.UpgradeStateResponse) {
			resp.Diagnostics.Append(modernize(ctx, req.State, &resp.State)...)
		},
	}}
}

// MoveState takes over objects of a type lab_old, whatever provider had it.
func (*thing) MoveState(context.Context) []resource.StateMover {
	old := oldSchema()
	return []resource.StateMover{{
		SourceSchema: &old,
		StateMover: func(ctx context.Context, req resource.MoveStateRequest, resp *resource.MoveStateResponse) {
			if req.SourceTypeName == "lab_old" {
				resp.Diagnostics.Append(modernize(ctx, req.SourceState, &resp.TargetState)...)
			}
		},
	}}
}

// modernize writes an old object as a present one.
func modernize(ctx context.Context, old *tfsdk.State, now *tfsdk.State) (diags diag.Diagnostics) {
	var m oldModel
	diags.Append(old.Get(ctx, &m)...)
	ty := now.Schema.Type().TerraformType(ctx).(tftypes.Object)
	nulls := map[string]tftypes.Value{}
	for name, at := range ty.AttributeTypes {
		nulls[name] = tftypes.NewValue(at, nil)
	}
	now.Raw = tftypes.NewValue(ty, nulls)
	for name, v := range map[string]types.String{"id": m.ID, "name": m.Name, "color": m.Colour} {
		diags.Append(now.SetAttribute(ctx, path.Root(name), v)...)
	}
	return diags
}

// trouble reads the attribute of that name; what is not known asks for none.
func trouble(ctx context.Context, get func(context.Context, path.Path, any) diag.Diagnostics) store.Trouble {
	var s types.String
	get(ctx, path.Root("trouble"), &s)
	return store.Trouble(s.ValueString())
}
