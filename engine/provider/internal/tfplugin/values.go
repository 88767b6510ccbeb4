package tfplugin

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// implied returns the type of a schema's values.
func implied(s *schema.Schema) cty.Type {
	if s == nil || s.Block == nil {
		return cty.EmptyObject
	}
	return s.Block.ImpliedType()
}

// encode encodes a value for a request; cty.NilVal is encoded as null. It panics at a value that does not
// conform to ty or has marks: that is a bug of the caller.
func encode(v cty.Value, ty cty.Type) *DynamicValue {
	if v == cty.NilVal {
		return &DynamicValue{Msgpack: msgpackNull}
	}
	buf, err := msgpack.Marshal(v, ty)
	if err != nil {
		panic(fmt.Sprintf("value given to a provider does not conform to its schema: %s", err))
	}
	return &DynamicValue{Msgpack: buf}
}

var msgpackNull = []byte{0xc0}

// decode decodes a value of an answer. A missing value is null.
func decode(d *DynamicValue, ty cty.Type) (cty.Value, error) {
	switch {
	case len(d.GetMsgpack()) > 0:
		return msgpack.Unmarshal(d.Msgpack, ty)
	case len(d.GetJson()) > 0:
		return ctyjson.Unmarshal(d.Json, ty)
	}
	return cty.NullVal(ty), nil
}

// encodeIdentity encodes an identity for a request. The result is nil if there is no identity, or ty is
// cty.NilType.
func encodeIdentity(v cty.Value, ty cty.Type) *ResourceIdentityData {
	if ty == cty.NilType || v == cty.NilVal || v.IsNull() {
		return nil
	}
	return &ResourceIdentityData{IdentityData: encode(v, ty)}
}

// decodeIdentity decodes an identity of an answer. The result is cty.NilVal if there is no identity, or ty is
// cty.NilType.
func decodeIdentity(d *ResourceIdentityData, ty cty.Type) (cty.Value, error) {
	if ty == cty.NilType || d.GetIdentityData() == nil {
		return cty.NilVal, nil
	}
	v, err := decode(d.IdentityData, ty)
	if err != nil || v.IsNull() {
		return cty.NilVal, err
	}
	return v, nil
}

// diagnostics converts a plugin's diagnostics.
func diagnostics(ds []*Diagnostic) diags.Diagnostics {
	if len(ds) == 0 {
		return nil
	}
	out := make(diags.Diagnostics, len(ds))
	for i, d := range ds {
		out[i] = diags.Diagnostic{
			Severity:  diags.Error,
			Summary:   d.Summary,
			Detail:    d.Detail,
			Attribute: decodePath(d.Attribute),
		}
		if d.Severity == Diagnostic_WARNING {
			out[i].Severity = diags.Warning
		}
	}
	return out
}

// decodePath converts a path; nil if it is empty. A step that is not understood ends the path, which then
// leads to an enclosing value.
func decodePath(p *AttributePath) cty.Path {
	if len(p.GetSteps()) == 0 {
		return nil
	}
	path := make(cty.Path, 0, len(p.Steps))
	for _, step := range p.Steps {
		switch s := step.GetSelector().(type) {
		case *AttributePath_Step_AttributeName:
			path = append(path, cty.GetAttrStep{Name: s.AttributeName})
		case *AttributePath_Step_ElementKeyString:
			path = append(path, cty.IndexStep{Key: cty.StringVal(s.ElementKeyString)})
		case *AttributePath_Step_ElementKeyInt:
			path = append(path, cty.IndexStep{Key: cty.NumberIntVal(s.ElementKeyInt)})
		default:
			return path
		}
	}
	return path
}
