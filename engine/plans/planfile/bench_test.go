package planfile

import (
	"fmt"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/jsonvalues"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// large returns a plan for n instances with 20 attributes: all of them are new, or,
// if refreshed is set, are there and stay, each object made anew by refreshing.
func large(b *testing.B, n int, refreshed bool) *plans.Plan {
	s := &schema.Schema{Block: &schema.Block{Attributes: map[string]*schema.Attribute{}}}
	for i := range 20 {
		s.Block.Attributes[fmt.Sprint("attr", i)] = &schema.Attribute{Type: cty.String, Optional: true, Computed: true}
	}
	ty := s.Block.ImpliedType()
	p := &plans.Plan{Mode: plans.NormalMode, Timestamp: time.Now().UTC()}
	prev, prior := states.Empty().Edit(), states.Empty().Edit()
	for i := range n {
		attrs := map[string]cty.Value{}
		for j := range 20 {
			attrs[fmt.Sprint("attr", j)] = cty.StringVal(fmt.Sprint("the value of instance ", i))
			if !refreshed && j%4 == 0 {
				attrs[fmt.Sprint("attr", j)] = cty.UnknownVal(cty.String)
			}
		}
		a := addrs.ResourceInstanceObject{Instance: addrs.AbsResource{Resource: addrs.Resource{Mode: addrs.Managed, Type: "t", Name: fmt.Sprint("r", i/10)}}.Instance(addrs.IntKey(i % 10))}
		c := &plans.ResourceChange{Addr: a, PrevAddr: a.Instance, Provider: addrs.AbsProviderConfig{Provider: addrs.DefaultProvider("t")}, Schema: s}
		c.Action, c.Before, c.After = plans.Create, cty.NullVal(ty), cty.ObjectVal(attrs)
		if refreshed {
			src, err := jsonvalues.Append(nil, c.After, ty)
			if err != nil {
				b.Fatal(err)
			}
			o := &states.Object{Status: states.Ready, AttrsJSON: src, Value: c.After}
			again := *o
			prev.SetObject(a, c.Provider, o)
			prior.SetObject(a, c.Provider, &again)
			c.Action, c.Before = plans.NoOp, c.After
		}
		p.Changes = append(p.Changes, c)
	}
	p.PrevRunState, p.PriorState = prev.State(), prior.State()
	return p
}

func benchmark(b *testing.B, p *plans.Plan) {
	f := &File{Plan: p}
	src := encode(b, f)
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			encode(b, f)
		}
		b.ReportMetric(float64(len(src)), "bytes")
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			decode(b, src, Options{})
		}
	})
}

func BenchmarkCreate10000(b *testing.B) { benchmark(b, large(b, 10000, false)) }
func BenchmarkNoOp10000(b *testing.B)   { benchmark(b, large(b, 10000, true)) }
