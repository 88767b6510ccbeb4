package rendertest

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Secret is part of every sensitive value of a random plan, and of no other value.
const Secret = "s3cr3t"

// nasty are strings that try to break out of the text around them.
var nasty = []string{
	"", "a", "plain text", "two\nlines", "```", "````\n```diff\n````", "</details>", "@octocat", "https://example.com/x", "#1",
	"\x1b[31mred\x1b[0m", "\u202eright to left", "EOT\nEOT", "{\"a\":[1,{\"b\":null}]}", "[\"@octocat\",\"```\\n```\"]", "${var.x} %{if}",
	"\r\n", "- not a deletion\n+ not an addition\n! nor an update", "\xff\xfe", "<!-- -->", "a|b", "\u2028", strings.Repeat("`", 70) + "\n x",
}

// Random makes random plans: plans that no real provider would make.
type Random struct {
	*rand.Rand
	depth int
}

func (r Random) deeper() Random { return Random{r.Rand, r.depth - 1} }

func (r Random) one(list []string) string { return list[r.Intn(len(list))] }

func (r Random) ctyType() cty.Type {
	n := 4
	if r.depth > 0 {
		n = 9
	}
	switch r.Intn(n) {
	case 0:
		return cty.Number
	case 1:
		return cty.Bool
	case 2, 3:
		return cty.String
	case 4:
		return cty.List(r.deeper().ctyType())
	case 5:
		return cty.Set(r.deeper().ctyType())
	case 6:
		return cty.Map(r.deeper().ctyType())
	case 7:
		return cty.Object(map[string]cty.Type{"x": r.deeper().ctyType(), "id": r.deeper().ctyType()})
	}
	return cty.DynamicPseudoType
}

func (r Random) attribute() *schema.Attribute {
	a := &schema.Attribute{Optional: true, Computed: true, Sensitive: r.Intn(6) == 0}
	if r.depth > 0 && r.Intn(4) == 0 {
		a.Nested = &schema.Object{Nesting: []schema.Nesting{schema.NestingSingle, schema.NestingList, schema.NestingSet, schema.NestingMap}[r.Intn(4)],
			Attributes: map[string]*schema.Attribute{"p": r.deeper().attribute(), "q": r.deeper().attribute()}}
		return a
	}
	a.Type = r.ctyType()
	a.WriteOnly = r.Intn(20) == 0 && a.Type.IsPrimitiveType()
	return a
}

func (r Random) block() *schema.Block {
	b := &schema.Block{Attributes: map[string]*schema.Attribute{"id": {Type: cty.String, Computed: true}}, Blocks: map[string]*schema.NestedBlock{}}
	for i := range r.Intn(4) {
		b.Attributes[fmt.Sprintf("attr%d", i)] = r.attribute()
	}
	for i := range r.Intn(3) {
		if r.depth > 0 {
			b.Blocks[fmt.Sprintf("block%d", i)] = &schema.NestedBlock{
				Nesting: []schema.Nesting{schema.NestingSingle, schema.NestingGroup, schema.NestingList, schema.NestingSet, schema.NestingMap}[r.Intn(5)],
				Block:   r.deeper().block(),
			}
		}
	}
	return b
}

// text returns a random string; if hidden is set, it contains Secret.
func (r Random) text(hidden bool) string {
	if hidden {
		return r.one(nasty) + Secret + r.one(nasty)
	}
	return r.one(nasty)
}

// value returns a random value of type ty. It may have null and sensitive parts and, unless known is set,
// unknown parts. hidden is set if a value around it is sensitive.
func (r Random) value(ty cty.Type, hidden, known bool) cty.Value {
	mark := r.Intn(12) == 0
	hidden = hidden || mark
	v := r.bareValue(ty, hidden, known)
	if mark {
		return v.Mark(marks.Sensitive)
	}
	return v
}

func (r Random) bareValue(ty cty.Type, hidden, known bool) cty.Value {
	switch r.Intn(10) {
	case 0:
		return cty.NullVal(ty)
	case 1:
		if !known {
			return cty.UnknownVal(ty)
		}
	}
	switch {
	case ty == cty.String:
		return cty.StringVal(strings.ToValidUTF8(r.text(hidden), "?"))
	case ty == cty.Number:
		return cty.NumberFloatVal(float64(r.Intn(5)) / 2)
	case ty == cty.Bool:
		return cty.BoolVal(r.Intn(2) == 0)
	case ty == cty.DynamicPseudoType:
		if r.depth <= 0 {
			return r.bareValue(cty.String, hidden, known)
		}
		return r.deeper().bareValue(r.deeper().ctyType(), hidden, known)
	case ty.IsCollectionType():
		return r.collection(ty, hidden, known)
	}
	vals := map[string]cty.Value{}
	for name, aty := range ty.AttributeTypes() {
		vals[name] = r.value(aty, hidden, known)
	}
	return cty.ObjectVal(vals)
}

// collection returns a random list, set or map. hidden and known are as for [Random.value].
func (r Random) collection(ty cty.Type, hidden, known bool) cty.Value {
	list := make([]cty.Value, r.Intn(4))
	for i := range list {
		list[i] = r.value(ty.ElementType(), hidden, known)
	}
	empty := len(list) == 0 || !sameTypes(list)
	switch {
	case ty.IsListType() && empty:
		return cty.ListValEmpty(ty.ElementType())
	case ty.IsListType():
		return cty.ListVal(list)
	case ty.IsSetType() && empty:
		return cty.SetValEmpty(ty.ElementType())
	case ty.IsSetType():
		return cty.SetVal(list)
	}
	vals := map[string]cty.Value{}
	for _, v := range list {
		vals[r.one(nasty)] = v
	}
	if empty {
		return cty.MapValEmpty(ty.ElementType())
	}
	return cty.MapVal(vals)
}

func sameTypes(vals []cty.Value) bool {
	for _, v := range vals {
		if !v.Type().Equals(vals[0].Type()) {
			return false
		}
	}
	return true
}

// object returns a random object of b, without unknown parts if known is set. Its sensitive attributes contain
// Secret.
func (r Random) object(b *schema.Block, known bool) cty.Value {
	vals := map[string]cty.Value{}
	for name, a := range b.Attributes {
		vals[name] = r.attributeValue(a, known)
	}
	for name, n := range b.Blocks {
		if n.Nesting == schema.NestingSingle || n.Nesting == schema.NestingGroup {
			vals[name] = r.object(n.Block, known)
			continue
		}
		var list []cty.Value
		for range r.Intn(3) {
			list = append(list, r.object(n.Block, known))
		}
		vals[name] = collect(n.Nesting, n.Block.ImpliedType(), list)
	}
	return cty.ObjectVal(vals)
}

func (r Random) attributeValue(a *schema.Attribute, known bool) cty.Value {
	if a.WriteOnly {
		return cty.NullVal(a.Type)
	}
	if a.Nested == nil {
		return r.value(a.Type, a.Sensitive, known)
	}
	single := func() cty.Value {
		vals := map[string]cty.Value{}
		for name, x := range a.Nested.Attributes {
			y := *x
			y.Sensitive = y.Sensitive || a.Sensitive
			vals[name] = r.attributeValue(&y, known)
		}
		return cty.ObjectVal(vals)
	}
	if a.Nested.Nesting == schema.NestingSingle {
		return single()
	}
	var list []cty.Value
	for range r.Intn(3) {
		list = append(list, single())
	}
	return collect(a.Nested.Nesting, (&schema.Object{Attributes: a.Nested.Attributes, Nesting: schema.NestingSingle}).ImpliedType(), list)
}

// collect combines objects into one value. It leaves out objects of another type than the first.
func collect(n schema.Nesting, ty cty.Type, list []cty.Value) cty.Value {
	for i, v := range list {
		if !v.Type().Equals(list[0].Type()) {
			list = list[:i]
			break
		}
	}
	switch dynamic := ty.HasDynamicTypes(); {
	case n == schema.NestingList && dynamic:
		return cty.TupleVal(list)
	case n == schema.NestingMap && dynamic:
		return cty.ObjectVal(numbered("k", list))
	case n == schema.NestingList && len(list) == 0:
		return cty.ListValEmpty(ty)
	case n == schema.NestingList:
		return cty.ListVal(list)
	case n == schema.NestingSet && len(list) == 0:
		return cty.SetValEmpty(ty)
	case n == schema.NestingSet:
		return cty.SetVal(list)
	case len(list) == 0:
		return cty.MapValEmpty(ty)
	}
	return cty.MapVal(numbered("k`", list))
}

func numbered(name string, list []cty.Value) map[string]cty.Value {
	vals := map[string]cty.Value{}
	for i, v := range list {
		vals[fmt.Sprint(name, i)] = v
	}
	return vals
}

// Plan returns a plan of a few changes of all actions.
func (r Random) Plan() *plans.Plan {
	p := &plans.Plan{Mode: plans.NormalMode, Complete: true, Applyable: true}
	for i := range 1 + r.Intn(5) {
		rs := &schema.Schema{Block: r.block()}
		key := addrs.StringKey(r.one(nasty))
		a := addrs.AbsResource{Resource: addrs.Resource{Mode: addrs.Managed, Type: "t", Name: fmt.Sprint("n", i)}}.Instance(key)
		c := &plans.ResourceChange{Addr: addrs.ResourceInstanceObject{Instance: a}, PrevAddr: a, Schema: rs}
		null := rs.Block.NullValue()
		c.Before, c.After = r.object(rs.Block, true), r.object(rs.Block, false)
		switch r.Intn(5) {
		case 0:
			c.Action, c.Before = plans.Create, null
		case 1:
			c.Action, c.After = plans.Delete, null
		case 2:
			c.Action = plans.DeleteThenCreate
			c.RequiredReplace = []cty.Path{cty.GetAttrPath("id"), cty.GetAttrPath("attr0"), cty.GetAttrPath("block0").IndexInt(0)}
		case 3:
			c.Action, c.After = plans.NoOp, c.Before
			c.Importing = &plans.Importing{ID: r.one(nasty)}
		default:
			c.Action = plans.Update
		}
		if r.Intn(4) == 0 {
			p.Drift = append(p.Drift, c)
		}
		p.Changes = append(p.Changes, c)
	}
	for i := range r.Intn(4) {
		o := &plans.OutputChange{Name: fmt.Sprint("o", i), Sensitive: r.Intn(3) == 0}
		o.Action = plans.Update
		o.Before, o.After = r.value(cty.DynamicPseudoType, o.Sensitive, true), r.value(cty.DynamicPseudoType, o.Sensitive, false)
		if o.Sensitive {
			o.Before, o.After = o.Before.Mark(marks.Sensitive), o.After.Mark(marks.Sensitive)
		}
		p.Outputs = append(p.Outputs, o)
	}
	return p
}

// StateOf returns a state with the objects before the changes of p.
func StateOf(p *plans.Plan) *states.State {
	resources := map[addrs.AbsResource]*states.Resource{}
	for _, c := range p.Changes {
		if c.Before.IsNull() {
			continue
		}
		a := c.Addr.Instance.AbsResource()
		if resources[a] == nil {
			resources[a] = &states.Resource{Instances: map[addrs.InstanceKey]*states.Instance{}}
		}
		plain, paths := marks.Paths(c.Before, marks.Sensitive)
		paths = append(paths, c.Schema.Block.SensitivePaths(plain)...)
		resources[a].Instances[c.Addr.Instance.Resource.Key] = &states.Instance{Current: &states.Object{
			Value: marks.At(plain, marks.Sensitive, paths), Sensitive: paths,
		}}
	}
	outputs := map[string]states.Output{}
	for _, o := range p.Outputs {
		v, paths := marks.Paths(o.Before, marks.Sensitive)
		outputs[o.Name] = states.Output{Value: v, Sensitive: o.Sensitive || len(paths) > 0}
	}
	return states.Of(outputs, resources)
}

// seeds is the number of random plans that each property is tested with.
const seeds = 200

// RandomPlan returns the random plan of a seed.
func RandomPlan(seed int64) *plans.Plan { return Random{rand.New(rand.NewSource(seed)), 3}.Plan() }

// EachPlan calls try with random plans, until the test fails.
func EachPlan(t *testing.T, try func(t *testing.T, seed int64, r Random, p *plans.Plan)) {
	t.Helper()
	for seed := range int64(seeds) {
		r := Random{rand.New(rand.NewSource(seed)), 3}
		p := r.Plan()
		try(t, seed, r, p)
		if t.Failed() {
			return
		}
	}
}
