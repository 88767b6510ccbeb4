package render

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	tfjson "github.com/hashicorp/terraform-json"

	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
	"github.com/lockstep-iac/lockstep/engine/render/rendertest"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// What Terraform 1.11.4 says of these conditions.
func TestChecksAsRecorded(t *testing.T) {
	t.Parallel()
	src, err := formats.Plan(&plans.Plan{Checks: []states.CheckResult{
		{Kind: "var", ConfigAddr: "module.m.var.x", Status: "pass", Objects: []states.CheckObject{
			{Addr: `module.m["b c"].var.x`, Status: "pass"}, {Addr: `module.m["a"].var.x`, Status: "pass"},
		}},
		{Kind: "resource", ConfigAddr: "module.m.terraform_data.n", Status: "pass", Objects: []states.CheckObject{
			{Addr: `module.m["b c"].terraform_data.n[1]`, Status: "pass"},
		}},
		{Kind: "resource", ConfigAddr: "data.terraform_remote_state.r", Status: "pass"},
		{Kind: "resource", ConfigAddr: "terraform_data.t", Status: "pass", Objects: []states.CheckObject{{Addr: `terraform_data.t["k"]`, Status: "pass"}}},
		{Kind: "output_value", ConfigAddr: "module.m.output.o", Status: "pass", Objects: []states.CheckObject{{Addr: `module.m["a"].output.o`, Status: "pass"}}},
		{Kind: "check", ConfigAddr: "check.c", Status: "fail", Objects: []states.CheckObject{{Addr: "check.c", Status: "fail", Failures: []string{"a warning 1"}}}},
	}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[
		{"address": {"kind": "check", "name": "c", "to_display": "check.c"}, "status": "fail",
		 "instances": [{"address": {"to_display": "check.c"}, "problems": [{"message": "a warning 1"}], "status": "fail"}]},
		{"address": {"kind": "resource", "mode": "data", "name": "r", "to_display": "data.terraform_remote_state.r", "type": "terraform_remote_state"}, "status": "pass"},
		{"address": {"kind": "output_value", "module": "module.m", "name": "o", "to_display": "module.m.output.o"}, "status": "pass",
		 "instances": [{"address": {"module": "module.m[\"a\"]", "to_display": "module.m[\"a\"].output.o"}, "status": "pass"}]},
		{"address": {"kind": "resource", "mode": "managed", "module": "module.m", "name": "n", "to_display": "module.m.terraform_data.n", "type": "terraform_data"}, "status": "pass",
		 "instances": [{"address": {"instance_key": 1, "module": "module.m[\"b c\"]", "to_display": "module.m[\"b c\"].terraform_data.n[1]"}, "status": "pass"}]},
		{"address": {"kind": "var", "module": "module.m", "name": "x", "to_display": "module.m.var.x"}, "status": "pass",
		 "instances": [{"address": {"module": "module.m[\"a\"]", "to_display": "module.m[\"a\"].var.x"}, "status": "pass"},
		               {"address": {"module": "module.m[\"b c\"]", "to_display": "module.m[\"b c\"].var.x"}, "status": "pass"}]},
		{"address": {"kind": "resource", "mode": "managed", "name": "t", "to_display": "terraform_data.t", "type": "terraform_data"}, "status": "pass",
		 "instances": [{"address": {"instance_key": "k", "to_display": "terraform_data.t[\"k\"]"}, "status": "pass"}]}
	]`
	var wanted any
	var got struct{ Checks any }
	rendertest.Decode(t, []byte(want), &wanted)
	rendertest.Decode(t, src, &got)
	if d := cmp.Diff(wanted, got.Checks); d != "" {
		t.Errorf("checks (- recorded, + written):\n%s", d)
	}
	var plan tfjson.Plan
	if err := json.Unmarshal(src, &plan); err != nil {
		t.Errorf("terraform-json cannot read it: %v", err)
	}
}
