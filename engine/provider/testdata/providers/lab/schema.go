package lab

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// model is a lab_thing.
type model struct {
	ID         types.String  `tfsdk:"id"`
	Name       types.String  `tfsdk:"name"`
	Color      types.String  `tfsdk:"color"`
	Size       types.Float64 `tfsdk:"size"`
	Tier       types.String  `tfsdk:"tier"`
	Region     types.String  `tfsdk:"region"`
	Module     types.String  `tfsdk:"module"`
	Secret     types.String  `tfsdk:"secret"`
	PasswordWO types.String  `tfsdk:"password_wo"`
	Tags       types.Map     `tfsdk:"tags"`
	Anything   types.Dynamic `tfsdk:"anything"`
	Shape      types.Object  `tfsdk:"shape"`
	Parts      types.Set     `tfsdk:"parts"`
	Trouble    types.String  `tfsdk:"trouble"`
	Rule       types.List    `tfsdk:"rule"`
	Box        types.Object  `tfsdk:"box"`
}

// shape is the value of the nested attribute.
type shape struct {
	Width types.Int64 `tfsdk:"width"`
	Area  types.Int64 `tfsdk:"area"`
}

// rule is one block.
type rule struct {
	Port types.Int64  `tfsdk:"port"`
	Host types.String `tfsdk:"host"`
}

func thingSchema() schema.Schema {
	keep := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	return schema.Schema{
		Version:             1,
		MarkdownDescription: "A thing, for tests.",
		Attributes: map[string]schema.Attribute{
			"id":          schema.StringAttribute{Computed: true, PlanModifiers: keep},
			"name":        schema.StringAttribute{Required: true, PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()}},
			"color":       schema.StringAttribute{Optional: true},
			"size":        schema.Float64Attribute{Optional: true},
			"tier":        schema.StringAttribute{Computed: true, Description: "chosen anew at each change"},
			"region":      schema.StringAttribute{Optional: true, Computed: true, PlanModifiers: keep},
			"module":      schema.StringAttribute{Computed: true, PlanModifiers: keep},
			"secret":      schema.StringAttribute{Optional: true, Sensitive: true},
			"password_wo": schema.StringAttribute{Optional: true, WriteOnly: true},
			"tags":        schema.MapAttribute{Optional: true, ElementType: types.StringType},
			"anything":    schema.DynamicAttribute{Optional: true},
			"shape": schema.SingleNestedAttribute{Optional: true, Attributes: map[string]schema.Attribute{
				"width": schema.Int64Attribute{Required: true},
				"area":  schema.Int64Attribute{Computed: true},
			}},
			"parts": schema.SetNestedAttribute{Optional: true, NestedObject: schema.NestedAttributeObject{
				Attributes: map[string]schema.Attribute{"label": schema.StringAttribute{Required: true}},
			}},
			"trouble": schema.StringAttribute{Optional: true, DeprecationMessage: "Trouble is never a good idea."},
		},
		Blocks: map[string]schema.Block{
			"rule": schema.ListNestedBlock{NestedObject: schema.NestedBlockObject{
				Attributes: map[string]schema.Attribute{
					"port": schema.Int64Attribute{Required: true},
					"host": schema.StringAttribute{Optional: true, Computed: true},
				},
			}},
			"box": schema.SingleNestedBlock{Attributes: map[string]schema.Attribute{
				"depth": schema.Int64Attribute{Optional: true},
			}},
		},
	}
}

// oldSchema is version 0: the color had another name, and there was nothing more.
func oldSchema() schema.Schema {
	return schema.Schema{Attributes: map[string]schema.Attribute{
		"id":     schema.StringAttribute{Computed: true},
		"name":   schema.StringAttribute{Required: true},
		"colour": schema.StringAttribute{Optional: true},
	}}
}

type oldModel struct {
	ID     types.String `tfsdk:"id"`
	Name   types.String `tfsdk:"name"`
	Colour types.String `tfsdk:"colour"`
}
