package formats

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/render/rendertest"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/zclconf/go-cty/cty"
)

// marked returns v with the marks that its schema asks for, too.
func marked(v cty.Value, b *schema.Block) cty.Value {
	if v.IsNull() {
		return v
	}
	plain, have := v.UnmarkDeepWithPaths()
	for _, p := range b.SensitivePaths(plain) {
		have = append(have, cty.PathValueMarks{Path: p, Marks: cty.NewValueMarks(marks.Sensitive)})
	}
	return plain.MarkWithPaths(have)
}

// Writing along the schema says the same as writing along the values alone.
func TestShapesSayWhatValuesSay(t *testing.T) {
	t.Parallel()
	rendertest.EachPlan(t, func(t *testing.T, seed int64, _ rendertest.Random, p *plans.Plan) {
		for _, c := range p.Changes {
			for _, v := range []cty.Value{c.Before, c.After} {
				quick, slow := &jsonText{}, &jsonText{}
				whole := quick.attributes(v, c.Schema)
				slow.value(v)
				plain, _ := v.UnmarkDeep()
				if d := cmp.Diff(string(slow.b), string(quick.b)); d != "" || whole != plain.IsWhollyKnown() {
					t.Fatalf("seed %d, known %v: values (- slow, + quick):\n%s", seed, whole, d)
				}
				quick, slow = &jsonText{}, &jsonText{}
				quick.sensitiveAttributes(v, c.Schema)
				slow.sensitive(marked(v, c.Schema.Block))
				if d := cmp.Diff(string(slow.b), string(quick.b)); d != "" {
					t.Fatalf("seed %d: masks (- slow, + quick):\n%s\nof %#v", seed, d, v)
				}
			}
		}
	})
}

func TestToolsReadWhatIsWritten(t *testing.T) {
	t.Parallel()
	rendertest.EachPlan(t, func(t *testing.T, seed int64, _ rendertest.Random, p *plans.Plan) {
		p.PriorState = rendertest.StateOf(p)
		src, err := Plan(p, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var plan tfjson.Plan
		if err := json.Unmarshal(src, &plan); err != nil {
			t.Fatalf("seed %d: terraform-json cannot read the plan: %v", seed, err)
		}
		if len(plan.ResourceChanges) != len(p.Changes) || len(plan.OutputChanges) != len(p.Outputs) {
			t.Errorf("seed %d: %d changes and %d outputs come out of %d and %d", seed, len(plan.ResourceChanges), len(plan.OutputChanges), len(p.Changes), len(p.Outputs))
		}
		src, err = State(p.PriorState, nil)
		if err != nil {
			t.Fatal(err)
		}
		var s tfjson.State
		if err := json.Unmarshal(src, &s); err != nil {
			t.Fatalf("seed %d: terraform-json cannot read the state: %v", seed, err)
		}
	})
}
