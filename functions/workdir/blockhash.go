package workdir

import (
	"encoding/json"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// blockHash returns the hash of a backend block for the record. The hash equals Terraform's, so each tool
// accepts the records of the other. Terraform hashes a tuple of the type and an object of all attributes that
// version 1.11 knows. (Compared with records of 1.11.4.)
func blockHash(backendType string, values map[string]any) uint64 {
	v := cty.TupleVal([]cty.Value{cty.StringVal(backendType), objectOf(backendTypes[backendType].Attributes, values)})
	return uint64(uint32(v.Hash()))
}

func objectOf(attrs []statebackend.Attribute, values map[string]any) cty.Value {
	out := map[string]cty.Value{}
	for _, a := range attrs {
		if v := values[a.Name]; v != nil || !a.Foreign {
			out[a.Name] = attributeOf(a, v)
		}
	}
	return cty.ObjectVal(out)
}

// attributeOf converts a value of a block to the attribute's type. It returns null if that is impossible. The
// error is reported later, when the backend is opened.
func attributeOf(a statebackend.Attribute, v any) cty.Value {
	ty := map[statebackend.AttributeType]cty.Type{
		statebackend.String: cty.String, statebackend.Bool: cty.Bool, statebackend.Int: cty.Number,
		statebackend.StringSet: cty.Set(cty.String), statebackend.StringMap: cty.Map(cty.String),
	}[a.Type]
	if a.Type == statebackend.Object {
		if members, ok := v.(map[string]any); ok {
			return objectOf(a.Attributes, members)
		}
		return cty.NullVal(cty.DynamicPseudoType)
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("backend attribute %s cannot be encoded: %v", a.Name, err))
	}
	simple := ctyjson.SimpleJSONValue{}
	if err := simple.UnmarshalJSON(data); err != nil {
		return cty.NullVal(ty)
	}
	out, err := convert.Convert(simple.Value, ty)
	if err != nil {
		return cty.NullVal(ty)
	}
	return out
}
