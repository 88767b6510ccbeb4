package render

import (
	"fmt"
	"io"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/jsonvalues"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
	"github.com/lockstep-iac/lockstep/engine/render/rendertest"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// wide returns a plan that creates, updates and leaves alone n objects, after a state
// that has those that there are, and its schemas.
func wide(b *testing.B, n int) (*plans.Plan, formats.Schemas) {
	lab := addrs.Provider{Host: addrs.DefaultRegistryHost, Namespace: "lockstep", Type: "lab"}
	schemas := rendertest.Schemas(b)
	rs := schemas(lab).Managed["lab_thing"]
	r := addrs.Resource{Mode: addrs.Managed, Type: "lab_thing", Name: "a"}
	instances := map[addrs.InstanceKey]*states.Instance{}
	p := &plans.Plan{Mode: plans.NormalMode, Complete: true, Applyable: true}
	for i := range n {
		a := addrs.AbsResource{Resource: r}.Instance(addrs.IntKey(i))
		before, after := labThing(rs, i, "red"), labThing(rs, i, "red")
		c := &plans.ResourceChange{
			Addr: addrs.ResourceInstanceObject{Instance: a}, PrevAddr: a,
			Provider: addrs.AbsProviderConfig{Provider: lab}, Schema: rs,
		}
		switch i % 3 {
		case 0:
			c.Action, before = plans.Create, rs.Block.NullValue()
		case 1:
			c.Action, after = plans.Update, labThing(rs, i, "blue")
		default:
			c.Action = plans.NoOp
		}
		c.Before, c.After = before, after
		p.Changes = append(p.Changes, c)
		if !before.IsNull() {
			src, err := jsonvalues.Append(nil, before, rs.Block.ImpliedType())
			if err != nil {
				b.Fatal(err)
			}
			instances[a.Resource.Key] = &states.Instance{Current: &states.Object{Status: states.Ready, AttrsJSON: src}}
		}
	}
	p.PriorState = states.Of(nil, map[addrs.AbsResource]*states.Resource{
		{Resource: r}: {Provider: addrs.AbsProviderConfig{Provider: lab}, Instances: instances},
	})
	return p, schemas
}

func labThing(rs *schema.Schema, i int, color string) cty.Value {
	vals := map[string]cty.Value{}
	for name, a := range rs.Block.Attributes {
		vals[name] = cty.NullVal(a.Type)
	}
	vals["id"] = cty.StringVal(fmt.Sprint("a-", i))
	vals["name"] = cty.StringVal(fmt.Sprint("a", i))
	vals["color"] = cty.StringVal(color)
	vals["size"] = cty.NumberIntVal(int64(i))
	vals["tags"] = cty.MapVal(map[string]cty.Value{"x": cty.StringVal("y"), "z": cty.StringVal("w")})
	vals["tier"] = cty.UnknownVal(cty.String)
	if color == "red" {
		vals["tier"] = cty.StringVal("standard")
	}
	return cty.ObjectVal(vals)
}

var sizes = []int{1000, 10000}

func BenchmarkPlanJSON(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p, schemas := wide(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := formats.Plan(p, nil, schemas); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPlanText(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p, schemas := wide(b, n)
			b.ReportAllocs()
			for b.Loop() {
				(&Printer{}).Plan(io.Discard, p, nil, schemas)
			}
		})
	}
}

func BenchmarkPlanMarkdown(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p, schemas := wide(b, n)
			b.ReportAllocs()
			for b.Loop() {
				PlanMarkdown(p, schemas)
			}
		})
	}
}

func BenchmarkStateJSON(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p, schemas := wide(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := formats.State(p.PriorState, schemas); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
