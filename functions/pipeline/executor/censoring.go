package executor

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/jsonvalues"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/internal/redacting"
)

// A censor replaces the secrets in a state. A secret is always replaced by the same text, also inside a longer
// text. So a configuration that copies a secret from one object to another still fits the state. If the schema
// of an object is unknown, or has another version, everything in the object is secret.
type censor struct {
	// Secrets are the secrets of the state. They are also removed from values that are not marked as sensitive.
	Secrets *redacting.Secrets
	Schemas formats.Schemas
}

// State returns a state without secrets. It contains only the managed objects and the outputs.
func (c censor) State(s *states.State) *states.State {
	outputs := map[string]states.Output{}
	for name, out := range s.Outputs() {
		var paths []cty.Path
		if out.Sensitive {
			paths = []cty.Path{nil}
		}
		out.Value = c.value(out.Value, paths)
		outputs[name] = out
	}
	resources := map[addrs.AbsResource]*states.Resource{}
	for addr, r := range s.Resources() {
		if addr.Resource.Mode != addrs.Managed {
			continue // it is read again, or left out
		}
		of := c.schema(addr, r)
		next := &states.Resource{Provider: r.Provider, Instances: map[addrs.InstanceKey]*states.Instance{}}
		for key, in := range r.Instances {
			left := &states.Instance{Current: c.object(in.Current, of), Provider: in.Provider}
			for name, o := range in.Deposed {
				if left.Deposed == nil {
					left.Deposed = map[addrs.DeposedKey]*states.Object{}
				}
				left.Deposed[name] = c.object(o, of)
			}
			next.Instances[key] = left
		}
		resources[addr] = next
	}
	return states.Of(outputs, resources).With(s.Lineage, s.Serial)
}

func (c censor) schema(addr addrs.AbsResource, r *states.Resource) *schema.Schema {
	p := c.Schemas(r.Provider.Provider)
	if p == nil {
		return nil
	}
	return p.Resource(addr.Resource.Mode.String(), addr.Resource.Type)
}

// object returns an object without its secrets. It also leaves out private data of the provider, because
// Lockstep cannot examine it.
func (c censor) object(o *states.Object, of *schema.Schema) *states.Object {
	if o == nil {
		return nil
	}
	out := &states.Object{
		Status: o.Status, SchemaVersion: o.SchemaVersion, Sensitive: o.Sensitive, Dependencies: o.Dependencies, CreateBeforeDestroy: o.CreateBeforeDestroy,
	}
	for key, value := range o.AttrsFlat {
		if out.AttrsFlat == nil {
			out.AttrsFlat = map[string]string{}
		}
		if !strings.HasSuffix(key, ".#") && !strings.HasSuffix(key, ".%") {
			value = redacting.Hidden
		}
		out.AttrsFlat[key] = value
	}
	if o.AttrsJSON == nil {
		return out
	}
	if of != nil && of.Block != nil && of.Version == o.SchemaVersion {
		if v, err := jsonvalues.Parse(o.AttrsJSON, of.Block.ImpliedType()); err == nil {
			left := c.value(v, slices.Concat(o.Sensitive, of.Block.SensitivePaths(v)))
			if out.AttrsJSON, err = of.Block.JSON().Append(nil, left); err == nil {
				return out
			}
		}
	}
	out.AttrsJSON = json.RawMessage("{}")
	dec := json.NewDecoder(bytes.NewReader(o.AttrsJSON))
	dec.UseNumber() // keeps the digits of numbers
	var tree any
	if dec.Decode(&tree) == nil {
		if data, err := json.Marshal(hidden(tree)); err == nil {
			out.AttrsJSON = data
		}
	}
	return out
}

// hidden returns decoded JSON in which all strings and numbers are replaced. Booleans are not secret.
func hidden(tree any) any {
	switch x := tree.(type) {
	case string:
		return redacting.Hidden
	case json.Number:
		return json.Number("0")
	case []any:
		for i, e := range x {
			x[i] = hidden(e)
		}
	case map[string]any:
		for key, e := range x {
			x[key] = hidden(e)
		}
	}
	return tree
}

// value returns a value of the same type without secrets. At the given paths, it replaces all strings and
// numbers. Elsewhere, it replaces only secrets in strings and numbers.
func (c censor) value(v cty.Value, paths []cty.Path) cty.Value {
	all := len(paths) > 0 // all is set if the whole value is secret: a path ends here, or cannot be followed any further
	switch ty := v.Type(); {
	case v.IsNull() || !v.IsKnown():
	case ty == cty.String:
		return cty.StringVal(c.text(v.AsString(), all))
	case ty == cty.Number:
		if decimal := v.AsBigFloat().Text('f', -1); c.text(decimal, all) != decimal {
			return cty.Zero
		}
	case ty.IsObjectType() || ty.IsMapType() || ty.IsTupleType() || ty.IsCollectionType():
		return c.parts(v, paths)
	}
	return v
}

// parts does the work of [censor.value] for a value that consists of other values, such as a list.
func (c censor) parts(v cty.Value, paths []cty.Path) cty.Value {
	ty := v.Type()
	named, list := map[string]cty.Value{}, []cty.Value{}
	for it := v.ElementIterator(); it.Next(); {
		key, x := it.Element()
		part := c.value(x, below(paths, ty, key))
		switch {
		case ty.IsObjectType():
			named[key.AsString()] = part
		case ty.IsMapType():
			named[c.Secrets.From(key.AsString())] = part
		}
		list = append(list, part)
	}
	switch {
	case len(list) == 0:
		return v
	case ty.IsObjectType():
		return cty.ObjectVal(named)
	case ty.IsMapType():
		return cty.MapVal(named)
	case ty.IsTupleType():
		return cty.TupleVal(list)
	case ty.IsSetType():
		return cty.SetVal(list)
	}
	return cty.ListVal(list)
}

// below returns those paths that lead into the element key of a value of type ty. They are shortened: they
// begin in the element. If a step of a path cannot be followed, the whole element counts as secret, and the
// path has no steps left.
func below(paths []cty.Path, ty cty.Type, key cty.Value) (out []cty.Path) {
	for _, p := range paths {
		if len(p) == 0 {
			out = append(out, p)
			continue
		}
		name, index := "", cty.NilVal
		switch step := p[0].(type) {
		case cty.GetAttrStep:
			name = step.Name
		case cty.IndexStep:
			index = step.Key
		}
		switch {
		case ty.IsObjectType() && name != "":
			if name == key.AsString() {
				out = append(out, p[1:])
			}
		case !ty.IsSetType() && index != cty.NilVal && index.IsKnown() && !index.IsNull() && index.Type() == key.Type():
			if index.RawEquals(key) {
				out = append(out, p[1:])
			}
		default:
			out = append(out, nil)
		}
	}
	return out
}

func (c censor) text(text string, all bool) string {
	if all && text != "" {
		return redacting.Hidden
	}
	return c.Secrets.From(text)
}
