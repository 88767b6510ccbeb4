package formats

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/internal/schematest"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// The planned values of what is replaced mask no null, as in Terraform; the change itself does, and so
// do those of what is created. What there is to hide is masked in both, unlike in Terraform.
func TestMasksOfTheReplaced(t *testing.T) {
	t.Parallel()
	s := &schema.Schema{Block: schematest.Block(t, "name string required\nnone string optional sensitive\nsecret string optional sensitive")}
	v := cty.ObjectVal(map[string]cty.Value{
		"name": cty.StringVal("n"), "none": cty.NullVal(cty.String).Mark(marks.Sensitive), "secret": cty.StringVal("s").Mark(marks.Sensitive),
	})
	all, some := map[string]any{"none": true, "secret": true}, map[string]any{"secret": true}
	for action, want := range map[plans.Action]map[string]any{plans.DeleteThenCreate: some, plans.CreateThenDelete: some, plans.Create: all, plans.NoOp: all} {
		at := addrs.AbsResource{Resource: addrs.Resource{Mode: addrs.Managed, Type: "lab_thing", Name: "x"}}.Instance(addrs.NoKey)
		src, err := Plan(&plans.Plan{Mode: plans.NormalMode, Changes: []*plans.ResourceChange{{
			Addr: addrs.ResourceInstanceObject{Instance: at}, PrevAddr: at, Schema: s,
			Change: plans.Change{Action: action, Before: v, After: v},
		}}}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Planned struct {
				Root struct {
					Resources []struct {
						Mask map[string]any `json:"sensitive_values"`
					}
				} `json:"root_module"`
			} `json:"planned_values"`
			Changes []struct {
				Change struct {
					After map[string]any `json:"after_sensitive"`
				}
			} `json:"resource_changes"`
		}
		if err := json.Unmarshal(src, &got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got.Planned.Root.Resources[0].Mask); d != "" {
			t.Errorf("%s: planned values (-want +got)\n%s", action, d)
		}
		if d := cmp.Diff(all, got.Changes[0].Change.After); d != "" {
			t.Errorf("%s: change (-want +got)\n%s", action, d)
		}
	}
}
