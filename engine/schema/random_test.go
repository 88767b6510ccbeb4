package schema_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/internal/schematest"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// A chance makes random schemas and values that keep to them. Names and values are
// few, so that parts of different values meet.
type chance struct{ *rand.Rand }

func (c chance) is(p float64) bool { return c.Float64() < p }

func (c chance) attributes(depth int, sets bool) map[string]*schema.Attribute {
	out := map[string]*schema.Attribute{}
	for i := range 1 + c.IntN(4) {
		a := &schema.Attribute{Sensitive: c.is(0.1)}
		switch c.IntN(5) {
		case 0:
			a.Required = true
		case 1:
			a.Optional, a.WriteOnly = true, c.is(0.2)
		case 2:
			a.Computed = true
		default:
			a.Optional, a.Computed = true, true
		}
		if depth > 0 && c.is(0.35) {
			a.Nested = &schema.Object{Attributes: c.attributes(depth-1, sets), Nesting: c.nesting(sets, schema.NestingSingle, schema.NestingList, schema.NestingMap)}
		} else {
			a.Type = []cty.Type{
				cty.String, cty.Number, cty.Bool, cty.List(cty.String), cty.Map(cty.Number),
				cty.Object(map[string]cty.Type{"x": cty.String, "y": cty.Number}), cty.Set(cty.String),
			}[c.IntN(6+c.IntN(2))]
		}
		out[fmt.Sprintf("a%d", i)] = a
	}
	return out
}

func (c chance) nesting(sets bool, ns ...schema.Nesting) schema.Nesting {
	if sets {
		ns = append(ns, schema.NestingSet)
	}
	return ns[c.IntN(len(ns))]
}

func (c chance) block(depth int, sets bool) *schema.Block {
	b := &schema.Block{Attributes: c.attributes(depth, sets), Blocks: map[string]*schema.NestedBlock{}}
	for i := range c.IntN(3) {
		if depth > 0 {
			b.Blocks[fmt.Sprintf("b%d", i)] = &schema.NestedBlock{
				Block:   c.block(depth-1, sets),
				Nesting: c.nesting(sets, schema.NestingSingle, schema.NestingGroup, schema.NestingList, schema.NestingMap),
			}
		}
	}
	return b
}

func (c chance) value(b *schema.Block) cty.Value {
	vals := c.objectVals(b.Attributes)
	for name, n := range b.Blocks {
		if n.Nesting == schema.NestingSingle && c.is(0.3) {
			vals[name] = n.EmptyValue()
			continue
		}
		vals[name] = c.several(n.Nesting, n.Block.ImpliedType(), func() cty.Value { return c.value(n.Block) })
	}
	return cty.ObjectVal(vals)
}

func (c chance) objectVals(attrs map[string]*schema.Attribute) map[string]cty.Value {
	vals := map[string]cty.Value{}
	for name, a := range attrs {
		switch {
		case !a.Required && c.is(0.25):
			vals[name] = cty.NullVal(a.ImpliedType())
		case a.Nested != nil:
			one := func() cty.Value { return cty.ObjectVal(c.objectVals(a.Nested.Attributes)) }
			vals[name] = c.several(a.Nested.Nesting, one().Type(), one)
		default:
			vals[name] = c.plain(a.Type)
		}
	}
	return vals
}

func (c chance) several(n schema.Nesting, ety cty.Type, one func() cty.Value) cty.Value {
	if n == schema.NestingSingle || n == schema.NestingGroup {
		return one()
	}
	var vals []cty.Value
	for range c.IntN(4) {
		vals = append(vals, one())
	}
	switch {
	case n == schema.NestingMap && len(vals) > 0:
		m := map[string]cty.Value{}
		for i, v := range vals {
			m[fmt.Sprintf("k%d", i)] = v
		}
		return cty.MapVal(m)
	case n == schema.NestingMap:
		return cty.MapValEmpty(ety)
	case n == schema.NestingSet && len(vals) > 0:
		return cty.SetVal(vals)
	case n == schema.NestingSet:
		return cty.SetValEmpty(ety)
	case len(vals) > 0:
		return cty.ListVal(vals)
	}
	return cty.ListValEmpty(ety)
}

func (c chance) plain(ty cty.Type) cty.Value {
	switch {
	case ty == cty.String:
		return cty.StringVal([]string{"p", "q", "r"}[c.IntN(3)])
	case ty == cty.Number:
		return cty.NumberIntVal(int64(c.IntN(3)))
	case ty == cty.Bool:
		return cty.BoolVal(c.is(0.5))
	case ty.IsObjectType():
		vals := map[string]cty.Value{}
		for name, aty := range ty.AttributeTypes() {
			vals[name] = c.plain(aty)
		}
		return cty.ObjectVal(vals)
	case ty.IsMapType():
		return c.several(schema.NestingMap, ty.ElementType(), func() cty.Value { return c.plain(ty.ElementType()) })
	case ty.IsSetType():
		return c.several(schema.NestingSet, ty.ElementType(), func() cty.Value { return c.plain(ty.ElementType()) })
	}
	return c.several(schema.NestingList, ty.ElementType(), func() cty.Value { return c.plain(ty.ElementType()) })
}

// config returns a configuration from which v can have come; with drop, some of
// what need not be configured is not.
func (c chance) config(b *schema.Block, v cty.Value, drop bool) cty.Value {
	vals := c.configVals(b.Attributes, v, drop)
	for name, n := range b.Blocks {
		vals[name] = mapObjects(n.Nesting, v.GetAttr(name), func(e cty.Value) cty.Value { return c.config(n.Block, e, drop) })
	}
	return cty.ObjectVal(vals)
}

func (c chance) configVals(attrs map[string]*schema.Attribute, v cty.Value, drop bool) map[string]cty.Value {
	vals := map[string]cty.Value{}
	for name, a := range attrs {
		vals[name] = v.GetAttr(name)
		switch {
		case a.Computed && !a.Optional, drop && !a.Required && c.is(0.4):
			vals[name] = cty.NullVal(a.ImpliedType())
		case a.Nested != nil:
			vals[name] = mapObjects(a.Nested.Nesting, vals[name], func(e cty.Value) cty.Value {
				return cty.ObjectVal(c.configVals(a.Nested.Attributes, e, drop))
			})
		}
	}
	return vals
}

// mapObjects returns v with f applied to each of its objects.
func mapObjects(n schema.Nesting, v cty.Value, f func(cty.Value) cty.Value) cty.Value {
	if v.IsNull() {
		return v
	}
	if n == schema.NestingSingle || n == schema.NestingGroup {
		return f(v)
	}
	if v.LengthInt() == 0 {
		return v
	}
	vals := map[string]cty.Value{}
	var list []cty.Value
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		list = append(list, f(e))
		if n == schema.NestingMap {
			vals[k.AsString()] = list[len(list)-1]
		}
	}
	switch n {
	case schema.NestingMap:
		return cty.MapVal(vals)
	case schema.NestingSet:
		return cty.SetVal(list)
	}
	return cty.ListVal(list)
}

// fill returns v with something known for everything unknown.
func (c chance) fill(v cty.Value) cty.Value {
	out, err := cty.Transform(v, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		switch ty := v.Type(); {
		case v.IsKnown():
			return v, nil
		case ty.IsPrimitiveType():
			return c.plain(ty), nil
		default:
			return cty.NullVal(ty), nil
		}
	})
	if err != nil {
		panic(err)
	}
	return out
}

// trials runs f with schemas and values of b.
func trials(t *testing.T, sets bool, f func(t *testing.T, c chance, b *schema.Block, v cty.Value)) {
	t.Parallel()
	for seed := range uint64(400) {
		c := chance{rand.New(rand.NewPCG(seed, 0))}
		b := c.block(2, sets)
		if err := b.Check(); err != nil {
			t.Fatal(err)
		}
		f(t, c, b, c.value(b))
		if t.Failed() {
			t.Fatalf("with seed %d, schema of type %#v", seed, b.ImpliedType())
		}
	}
}

func TestProposedNewIsAValidPlan(t *testing.T) {
	trials(t, true, func(t *testing.T, c chance, b *schema.Block, prior cty.Value) {
		config := c.config(b, prior, true)
		if c.is(0.3) {
			prior = b.NullValue()
		}
		proposed := schema.ProposedNew(b, prior, config)
		if errs := proposed.Type().TestConformance(b.ImpliedType()); len(errs) > 0 {
			t.Errorf("proposed value does not conform: %v", errs)
		}
		for _, planned := range []cty.Value{proposed, b.SetUnknowns(proposed), config} {
			for _, err := range schema.AssertPlanValid(b, prior, config, planned) {
				t.Errorf("%s\nplanned %s", schema.FormatError(err), schematest.Text(b, planned))
			}
			for _, err := range schema.AssertObjectCompatible(b, planned, c.fill(planned)) {
				t.Errorf("%s\nafter plan %s", schema.FormatError(err), schematest.Text(b, planned))
			}
		}
	})
}

// Sets are left out: an element with a computed set in it is not found again.
func TestProposedNewKeepsWhatIsAsConfigured(t *testing.T) {
	trials(t, false, func(t *testing.T, c chance, b *schema.Block, v cty.Value) {
		config := c.config(b, v, false)
		if got := schema.ProposedNew(b, v, config); !got.RawEquals(v) {
			t.Errorf("had\n%s\nconfigured\n%s\nproposed\n%s", schematest.Text(b, v), schematest.Text(b, config), schematest.Text(b, got))
		}
		if got := schema.ProposedNew(b, b.NullValue(), config); !got.RawEquals(config) {
			t.Errorf("proposed new\n%s\nconfigured\n%s", schematest.Text(b, got), schematest.Text(b, config))
		}
		data := schema.PlannedDataResourceObject(b, config)
		if errs := schema.AssertObjectCompatible(b, data, v); len(errs) > 0 {
			t.Errorf("reading gives what was not planned: %v", errs)
		}
	})
}

func TestValuesKeepToTheirSchema(t *testing.T) {
	trials(t, true, func(t *testing.T, c chance, b *schema.Block, v cty.Value) {
		if got, err := b.Coerce(v); err != nil || !got.RawEquals(v) {
			t.Errorf("coerced to %#v, %v", got, err)
		}
		text, err := b.JSON().Append(nil, v)
		if err != nil {
			t.Error(err)
		}
		if got, err := b.JSON().Parse(text); err != nil || !got.RawEquals(v) {
			t.Errorf("%s is read as %#v, %v", text, got, err)
		}
		if got, err := schematest.ParseValue(b, schematest.Text(b, v)); err != nil || !got.RawEquals(v) {
			t.Errorf("%s is read as %#v, %v", schematest.Text(b, v), got, err)
		}
		stored := b.WithoutWriteOnly(v)
		if ps := b.WriteOnlyValues(stored); len(ps) > 0 || !b.WithoutWriteOnly(stored).RawEquals(stored) {
			t.Errorf("%s has write-only values", schematest.Text(b, stored))
		}
		if got := schema.NormalizeFromLegacySDK(v, b); !got.RawEquals(v) {
			t.Errorf("normalized to %s", schematest.Text(b, got))
		}
		if errs := schema.AssertObjectCompatible(b, v, v); len(errs) > 0 {
			t.Error(errs)
		}
	})
}
