package testruns

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/internal/converting"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// A composer makes up values for the computed attributes of one mocked or overridden object.
type composer struct {
	seed    string // seed of the made-up values; ends with the address of the object
	set     values
	unknown bool                 // computed attributes become unknown, as in a plan
	wanted  func(cty.Value) bool // reports whether a computed attribute with this value needs a made-up value
	diags   diags.Diagnostics
}

// composer returns a composer for the resource instance that the provider call of ctx is for.
func (m *mock) composer(ctx context.Context, set values) *composer {
	c := &composer{seed: m.seed, set: set}
	if a, ok := provider.Instance(ctx); ok {
		c.seed += a.String()
	}
	return c
}

// block returns v with its computed attributes made up. set has the values that a test sets for the block, or
// cty.NilVal if a test sets none.
func (c *composer) block(b *schema.Block, v, set cty.Value, path string) cty.Value {
	if v.IsNull() || !v.IsKnown() {
		return v
	}
	out := v.AsValueMap()
	if out == nil {
		return v
	}
	for _, name := range slices.Sorted(maps.Keys(b.Attributes)) {
		out[name] = c.attribute(b.Attributes[name], out[name], part(set, name), path+"."+name)
	}
	for _, name := range slices.Sorted(maps.Keys(b.Blocks)) {
		nested := b.Blocks[name]
		out[name] = c.elements(nested.Nesting, out[name], path+"."+name, func(x cty.Value, at string) cty.Value {
			return c.block(nested.Block, x, part(set, name), at)
		})
	}
	return cty.ObjectVal(out)
}

// part returns the attribute name of the values that a test sets, or cty.NilVal if the test does not set it.
func part(set cty.Value, name string) cty.Value {
	if set == cty.NilVal || set.IsNull() || !set.IsKnown() {
		return cty.NilVal
	}
	switch ty := set.Type(); {
	case ty.IsObjectType() && ty.HasAttribute(name):
		return set.GetAttr(name)
	case ty.IsMapType() && set.HasIndex(cty.StringVal(name)).True():
		return set.Index(cty.StringVal(name))
	}
	return cty.NilVal
}

// attribute returns v as the value of one attribute, with all computed parts made up.
func (c *composer) attribute(a *schema.Attribute, v, set cty.Value, path string) cty.Value {
	switch {
	case a.WriteOnly:
		return cty.NullVal(v.Type())
	case a.Computed && c.wanted(v):
		if c.unknown {
			return cty.UnknownVal(a.ImpliedType())
		}
		return c.make(a, set, path)
	case a.Nested != nil && v.IsKnown() && !v.IsNull():
		return c.elements(a.Nested.Nesting, v, path, func(x cty.Value, at string) cty.Value { return c.object(a.Nested, x, set, at) })
	}
	return v
}

// object returns v as an object of a nested attribute, with its computed attributes made up.
func (c *composer) object(o *schema.Object, v, set cty.Value, path string) cty.Value {
	if v.IsNull() || !v.IsKnown() {
		return v
	}
	out := v.AsValueMap()
	for _, name := range slices.Sorted(maps.Keys(o.Attributes)) {
		out[name] = c.attribute(o.Attributes[name], out[name], part(set, name), path+"."+name)
	}
	return cty.ObjectVal(out)
}

// elements returns a nested value with f applied to each of its objects.
func (c *composer) elements(n schema.Nesting, v cty.Value, path string, f func(cty.Value, string) cty.Value) cty.Value {
	if v.IsNull() || !v.IsKnown() {
		return v
	}
	if n == schema.NestingSingle || n == schema.NestingGroup {
		return f(v, path)
	}
	if v.LengthInt() == 0 {
		return v
	}
	var list []cty.Value
	byKey := map[string]cty.Value{}
	i := 0
	for it := v.ElementIterator(); it.Next(); i++ {
		key, x := it.Element()
		x = f(x, fmt.Sprintf("%s[%d]", path, i))
		list = append(list, x)
		if key.Type() == cty.String && key.IsKnown() && n == schema.NestingMap {
			byKey[key.AsString()] = x
		}
	}
	switch ty := v.Type(); {
	case ty.IsListType():
		return cty.ListVal(list)
	case ty.IsSetType():
		return cty.SetVal(list)
	case ty.IsMapType():
		return cty.MapVal(byKey)
	case ty.IsTupleType():
		return cty.TupleVal(list)
	default:
		return cty.ObjectVal(byKey)
	}
}

// make returns a value of a computed attribute: the value that a test sets, else a made-up one.
func (c *composer) make(a *schema.Attribute, set cty.Value, path string) cty.Value {
	if a.Nested == nil || set != cty.NilVal && a.Nested.Nesting != schema.NestingSingle {
		if set == cty.NilVal {
			return c.madeUp(a.ImpliedType(), path)
		}
		return c.convert(set, a.ImpliedType(), path)
	}
	if a.Nested.Nesting != schema.NestingSingle {
		return c.madeUp(a.ImpliedType(), path)
	}
	out := map[string]cty.Value{}
	for _, name := range slices.Sorted(maps.Keys(a.Nested.Attributes)) {
		out[name] = c.make(a.Nested.Attributes[name], part(set, name), path+"."+name)
	}
	return cty.ObjectVal(out)
}

// convert converts a value that a test sets to the type of its attribute. If the type has object attributes
// that the value lacks, they are made up.
func (c *composer) convert(v cty.Value, ty cty.Type, path string) cty.Value {
	if ty.IsObjectType() && v.Type().IsObjectType() && !v.IsNull() {
		out := map[string]cty.Value{}
		for name, want := range ty.AttributeTypes() {
			if x := part(v, name); x != cty.NilVal {
				out[name] = c.convert(x, want, path+"."+name)
			} else {
				out[name] = c.madeUp(want, path+"."+name)
			}
		}
		return cty.ObjectVal(out)
	}
	out, err := converting.Convert(v, ty)
	if err != nil {
		c.diags = append(c.diags, diags.Errorf(c.set.place, "Invalid mock value", "The value that the test sets for %s does not fit the provider's schema: %s. Give it the type that the provider's documentation names.", path[1:], err)...)
		return cty.UnknownVal(ty)
	}
	return out
}

// madeUp returns a value of a type: 8 letters or digits, 0, false, or an empty collection. It depends only on
// the run, the object and the attribute, so it is the same in each test.
func (c *composer) madeUp(ty cty.Type, path string) cty.Value {
	switch {
	case ty == cty.String:
		return cty.StringVal(random(c.seed + path))
	case ty == cty.Number:
		return cty.Zero
	case ty == cty.Bool:
		return cty.False
	case ty.IsListType():
		return cty.ListValEmpty(ty.ElementType())
	case ty.IsSetType():
		return cty.SetValEmpty(ty.ElementType())
	case ty.IsMapType():
		return cty.MapValEmpty(ty.ElementType())
	case ty.IsObjectType():
		out := map[string]cty.Value{}
		for name, x := range ty.AttributeTypes() {
			out[name] = c.madeUp(x, path+"."+name)
		}
		return cty.ObjectVal(out)
	case ty.IsTupleType():
		var out []cty.Value
		for i, x := range ty.TupleElementTypes() {
			out = append(out, c.madeUp(x, fmt.Sprintf("%s[%d]", path, i)))
		}
		return cty.TupleVal(out)
	}
	return cty.NullVal(ty)
}

// random returns 8 lower-case letters or digits. They depend only on the seed.
func random(seed string) string {
	const digits = "abcdefghijklmnopqrstuvwxyz0123456789"
	h := fnv.New64a()
	h.Write([]byte(seed))
	out, n := make([]byte, 8), h.Sum64()
	for i := range out {
		out[i] = digits[n%uint64(len(digits))]
		n /= uint64(len(digits))
	}
	return string(out)
}

// seed returns the seed of the run's made-up values.
func (r *run) seed() string { return fmt.Sprintf("%s %s %d ", r.suite.salt, r.File.Name, r.index) }
