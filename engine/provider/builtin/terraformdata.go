package builtin

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// dataType is the managed resource type that stores a value:
// https://developer.hashicorp.com/terraform/language/resources/terraform-data
const dataType = "terraform_data"

var dataSchema = &schema.Schema{Block: &schema.Block{
	Attributes: map[string]*schema.Attribute{
		"input":            {Type: cty.DynamicPseudoType, Optional: true},
		"output":           {Type: cty.DynamicPseudoType, Computed: true, Echoes: "input"},
		"triggers_replace": {Type: cty.DynamicPseudoType, Optional: true},
		"id":               {Type: cty.String, Computed: true},
	},
	Blocks: map[string]*schema.NestedBlock{"store": {Nesting: schema.NestingSingle, Block: storeBlock}},
}}

// validateData returns an error if a configuration sets a computed attribute.
func validateData(config cty.Value) diags.Diagnostics {
	var out diags.Diagnostics
	for _, name := range []string{"id", "output"} {
		if config.GetAttr(name).IsNull() {
			continue
		}
		out = append(out, diags.Diagnostic{
			Severity:  diags.Error,
			Summary:   fmt.Sprintf("%q attribute is read-only", name),
			Attribute: cty.GetAttrPath(name),
		})
	}
	return out
}

var unknownID = cty.UnknownVal(cty.String).RefineNotNull()

// planData returns an object's planned value. In a new object without an input, only the id is unknown. If an
// object loses its input, its output becomes unknown all the same, as Terraform plans it.
func planData(req provider.PlanRequest) (provider.PlanResponse, diags.Diagnostics) {
	out := provider.PlanResponse{Planned: req.Proposed, Private: req.Private}
	if req.Proposed.IsNull() {
		return out, nil // a deletion
	}
	input, trigger := req.Proposed.GetAttr("input"), req.Proposed.GetAttr("triggers_replace")
	id, output := unknownID, input
	if !input.IsNull() {
		output = cty.UnknownVal(input.Type())
	}
	prior := req.Prior
	switch {
	case prior.IsNull():
	case !marks.Equal(prior.GetAttr("triggers_replace"), trigger):
		out.RequiresReplace = []cty.Path{cty.GetAttrPath("triggers_replace")}
		prior = dataSchema.Block.NullValue()
	case !marks.Equal(prior.GetAttr("input"), input):
		id, output = req.Proposed.GetAttr("id"), cty.UnknownVal(input.Type())
	default:
		id, output = req.Proposed.GetAttr("id"), req.Proposed.GetAttr("output")
	}
	next, replaces, ds := planStore(prior, req.Proposed.GetAttr("store"))
	if replaces {
		id = unknownID
		out.RequiresReplace = append(out.RequiresReplace, cty.GetAttrPath("store").GetAttr("input"))
	}
	out.Planned = withStore(dataValue(id, input, output, trigger), next)
	return out, ds
}

// applyData returns the object with values in place of the plan's unknown values.
func applyData(req provider.ApplyRequest) provider.ApplyResponse {
	out := provider.ApplyResponse{New: req.Planned, Private: req.Private}
	if req.Planned.IsNull() {
		return out
	}
	id, output, stored := req.Planned.GetAttr("id"), req.Planned.GetAttr("output"), req.Planned.GetAttr("store")
	if id.IsKnown() && output.IsKnown() && stored.IsWhollyKnown() {
		return out
	}
	input := req.Planned.GetAttr("input")
	if !id.IsKnown() {
		id = cty.StringVal(uuid.NewString())
	}
	if !output.IsKnown() {
		output = input
	}
	out.New = withStore(dataValue(id, input, output, req.Planned.GetAttr("triggers_replace")), applyStore(stored, req.Config))
	return out
}

// importData returns an object with the given id. The next read does not change it.
func importData(id string) cty.Value {
	null := cty.NullVal(cty.DynamicPseudoType)
	return dataValue(cty.StringVal(id), null, null, null)
}

// dataValue returns the value of a terraform_data from its attributes. The block store is absent.
func dataValue(id, input, output, trigger cty.Value) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"id": id, "input": input, "output": output, "triggers_replace": trigger,
		"store": cty.NullVal(storeBlock.ImpliedType()),
	})
}

func withStore(v, stored cty.Value) cty.Value {
	attrs := v.AsValueMap()
	attrs["store"] = stored
	return cty.ObjectVal(attrs)
}

// upgradeData decodes an object as the state file keeps it. There has only been
// one version of the schema: attributes that are not in it are dropped, and an absent store block is null.
func upgradeData(req provider.UpgradeRequest) (cty.Value, diags.Diagnostics) {
	if req.JSON == nil {
		return cty.NilVal, undecodable(errors.New("it has the form of Terraform 0.11, which had no such type"))
	}
	codec := dataSchema.Block.JSON()
	v, err := codec.Parse(req.JSON)
	if err == nil {
		return v, nil
	}
	var stored map[string]json.RawMessage
	if json.Unmarshal(req.JSON, &stored) != nil {
		return cty.NilVal, undecodable(err)
	}
	for name := range stored {
		if dataSchema.Block.Attributes[name] == nil && dataSchema.Block.Blocks[name] == nil {
			delete(stored, name)
		}
	}
	known, err := json.Marshal(stored)
	if err == nil {
		v, err = codec.Parse(known)
	}
	if err != nil {
		return cty.NilVal, undecodable(err)
	}
	return v, nil
}

func undecodable(err error) diags.Diagnostics {
	return diags.Errorf(nil, "Invalid object in the state",
		"The state holds an object of type %s that cannot be decoded: %s.", dataType, err)
}

// moveData converts a null_resource (of any provider with that type name) into a terraform_data. The triggers
// become an object, not a map, since a configuration like `triggers_replace = { ... }` has an object there.
func moveData(req provider.MoveRequest) (provider.MoveResponse, diags.Diagnostics) {
	if req.SourceType != "null_resource" {
		return provider.MoveResponse{}, diags.Errorf(nil, "Unsupported source provider for move operation",
			"An object of type %s cannot become one of type %s: only a null_resource can.", req.SourceType, dataType)
	}
	var stored struct {
		ID       *string            `json:"id"`
		Triggers map[string]*string `json:"triggers"`
	}
	if err := json.Unmarshal(req.SourceJSON, &stored); err != nil {
		return provider.MoveResponse{}, undecodable(err)
	}
	id := cty.NullVal(cty.String)
	if stored.ID != nil {
		id = cty.StringVal(*stored.ID)
	}
	null := cty.NullVal(cty.DynamicPseudoType)
	trigger := null
	if stored.Triggers != nil {
		attrs := make(map[string]cty.Value, len(stored.Triggers))
		for name, text := range stored.Triggers {
			attrs[name] = cty.NullVal(cty.String)
			if text != nil {
				attrs[name] = cty.StringVal(*text)
			}
		}
		trigger = cty.ObjectVal(attrs)
	}
	return provider.MoveResponse{State: dataValue(id, null, null, trigger)}, nil
}
