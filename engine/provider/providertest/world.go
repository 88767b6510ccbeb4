package providertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/provider"
)

// plan returns an object's planned value, and the paths whose changes require a replacement.
func (p *Provider) plan(req provider.PlanRequest) (cty.Value, []cty.Path) {
	b := p.declared.Managed[req.TypeName].Block
	if req.Proposed.IsNull() {
		return req.Proposed, nil
	}
	proposed := b.WithoutWriteOnly(req.Proposed)
	if req.Prior.IsNull() {
		return b.SetUnknowns(proposed), nil
	}
	if proposed.RawEquals(req.Prior) {
		return req.Prior, nil
	}
	planned := proposed.AsValueMap()
	fresh := b.SetUnknowns(proposed).AsValueMap()
	var replace []cty.Path
	for _, name := range slices.Sorted(maps.Keys(planned)) {
		t := p.traits[req.TypeName][name]
		attr := b.Attributes[name]
		chosen := attr != nil && attr.Computed && req.Config.GetAttr(name).IsNull()
		switch changed := !planned[name].RawEquals(req.Prior.GetAttr(name)); {
		case chosen && !t.keep:
			planned[name] = cty.UnknownVal(planned[name].Type())
		case changed:
			planned[name] = fresh[name]
			if t.replace {
				replace = append(replace, cty.GetAttrPath(name))
			}
		}
	}
	return cty.ObjectVal(planned), replace
}

// apply creates, changes or deletes an object of the fake.
func (p *Provider) apply(op string, req provider.ApplyRequest) (cty.Value, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if op == "delete" {
		delete(p.objects, p.keyOf(req.TypeName, req.Prior))
		return req.Planned, nil
	}
	key := p.keyOf(req.TypeName, req.Prior)
	if op == "create" {
		// If the configuration chooses the ID of an existing object, the object is overwritten.
		if key = p.keyOf(req.TypeName, req.Planned); key.id == "" {
			key = p.newKey(req.TypeName, nameOf(req.Planned))
		}
	}
	obj, exists := p.objects[key]
	if op == "update" && !exists {
		return cty.NilVal, fmt.Errorf("there is no %s %s", key.typeName, key.id)
	}
	attrs := req.Planned.AsValueMap()
	if id, ok := attrs["id"]; ok && !id.IsKnown() {
		attrs["id"] = cty.StringVal(key.id)
	}
	obj.revision++
	obj.value = fill(cty.ObjectVal(attrs), nameOf(req.Planned), obj.revision)
	p.objects[key] = obj
	return obj.value, nil
}

// keyOf returns the key of an object with the value v.
func (p *Provider) keyOf(typeName string, v cty.Value) objectKey {
	key := objectKey{typeName: typeName, id: idOf(v)}
	for _, name := range slices.Sorted(maps.Keys(p.traits[typeName])) {
		if p.traits[typeName][name].place {
			key.place += "/" + text(v, name)
		}
	}
	return key
}

// newKey returns a key with an ID that no object ever had. The caller holds p.mu.
func (p *Provider) newKey(typeName, name string) objectKey {
	for n := 1; ; n++ {
		key := objectKey{typeName: typeName, id: fmt.Sprintf("%s-%d", name, n)}
		if !p.ids[key] {
			p.ids[key] = true
			return key
		}
	}
}

// named returns the objects of a type whose attribute "name" is name.
func (p *Provider) named(typeName, name string) []cty.Value {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []cty.Value
	for key, obj := range p.objects {
		if key.typeName == typeName && nameOf(obj.value) == name {
			out = append(out, obj.value)
		}
	}
	return out
}

// fill replaces unknown values with values that show where they come from: "tier-a-2" for the attribute tier
// of the object a when it is written for the second time.
func fill(v cty.Value, name string, revision int) cty.Value {
	out, err := cty.Transform(v, func(path cty.Path, v cty.Value) (cty.Value, error) {
		if v.IsKnown() {
			return v, nil
		}
		attr := "value"
		for _, step := range path {
			if s, ok := step.(cty.GetAttrStep); ok {
				attr = s.Name
			}
		}
		return made(v.Type(), fmt.Sprintf("%s-%s-%d", attr, name, revision), revision), nil
	})
	if err != nil {
		panic(err)
	}
	return out
}

// made returns a value of the type ty for fill, in place of an unknown value. text and revision show where the
// value comes from.
func made(ty cty.Type, text string, revision int) cty.Value {
	switch {
	case ty == cty.String || ty == cty.DynamicPseudoType:
		return cty.StringVal(text)
	case ty == cty.Number:
		return cty.NumberIntVal(int64(revision))
	case ty == cty.Bool:
		return cty.True
	case ty.IsListType():
		return cty.ListVal([]cty.Value{made(ty.ElementType(), text, revision)})
	case ty.IsSetType():
		return cty.SetVal([]cty.Value{made(ty.ElementType(), text, revision)})
	case ty.IsMapType():
		return cty.MapVal(map[string]cty.Value{"key": made(ty.ElementType(), text, revision)})
	case ty.IsObjectType():
		attrs := map[string]cty.Value{}
		for name, at := range ty.AttributeTypes() {
			attrs[name] = made(at, strings.Replace(text, "value", name, 1), revision)
		}
		return cty.ObjectVal(attrs)
	}
	return cty.NullVal(ty)
}

// nameOf and idOf return the name and the ID of an object; "" if there is none or it is not known.
func nameOf(v cty.Value) string { return text(v, "name") }
func idOf(v cty.Value) string   { return text(v, "id") }

func text(v cty.Value, attr string) string {
	if v == cty.NilVal || v.IsNull() || !v.IsKnown() || !v.Type().HasAttribute(attr) {
		return ""
	}
	s := v.GetAttr(attr)
	if s.IsNull() || !s.IsKnown() || s.Type() != cty.String {
		return ""
	}
	return s.AsString()
}
