package formats

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/render/rendertest"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// compared are the parts of a recorded plan that must come out again.
var compared = []string{"planned_values", "resource_drift", "resource_changes", "output_changes", "applyable", "complete", "errored"}

// withoutMasks takes out of planned values what is written otherwise on purpose:
// Terraform's mask of sensitive values has only some of those that the schema
// declares, and objects that are let go are still there, without values.
func withoutMasks(values any) {
	module, _ := values.(map[string]any)["root_module"].(map[string]any)
	resources, _ := module["resources"].([]any)
	module["resources"] = slices.DeleteFunc(resources, func(r any) bool {
		m := r.(map[string]any)
		delete(m, "sensitive_values")
		return m["values"] == nil
	})
}

func TestPlanJSONAsRecorded(t *testing.T) {
	t.Parallel()
	schemas := rendertest.Schemas(t)
	for _, r := range rendertest.Recordings(t) {
		t.Run(r.Name, func(t *testing.T) {
			src, err := Plan(r.Plan(t, schemas), nil, schemas)
			if err != nil {
				t.Fatal(err)
			}
			var want, got map[string]any
			rendertest.Decode(t, r.Files["plan.json"], &want)
			rendertest.Decode(t, src, &got)
			withoutMasks(want["planned_values"])
			withoutMasks(got["planned_values"])
			for _, part := range compared {
				if d := cmp.Diff(want[part], got[part]); d != "" {
					t.Errorf("%s (- recorded, + written):\n%s", part, d)
				}
			}
			var plan tfjson.Plan
			if err := json.Unmarshal(src, &plan); err != nil {
				t.Errorf("terraform-json cannot read it: %v", err)
			}
		})
	}
}

func TestStateJSONAsRecorded(t *testing.T) {
	t.Parallel()
	schemas := rendertest.Schemas(t)
	for _, r := range rendertest.Recordings(t) {
		t.Run(r.Name, func(t *testing.T) {
			src, err := State(r.State(t), schemas)
			if err != nil {
				t.Fatal(err)
			}
			var want, got any
			rendertest.Decode(t, r.Files["state.json"], &want)
			rendertest.Decode(t, src, &got)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("state (- recorded, + written):\n%s", d)
			}
			var s tfjson.State
			if err := json.Unmarshal(src, &s); err != nil {
				t.Errorf("terraform-json cannot read it: %v", err)
			}
		})
	}
}

// The schemas come back as they were recorded.
func TestSchemasJSONAsRecorded(t *testing.T) {
	t.Parallel()
	src, err := ProviderSchemas(rendertest.Providers(t))
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	rendertest.Decode(t, rendertest.SchemasJSON(t), &want)
	rendertest.Decode(t, src, &got)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("schemas (- recorded, + written):\n%s", d)
	}
	var ps tfjson.ProviderSchemas
	if err := json.Unmarshal(src, &ps); err != nil {
		t.Errorf("terraform-json cannot read it: %v", err)
	}
}

func TestConfigurationAsRecorded(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"configuration", "configuration-inherited", "configuration-renamed"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := configurationAsRecorded(t, "testdata/"+name+".txtar")
			if name != "configuration" {
				return
			}
			if x := plan.Config.RootModule.Resources[0].Expressions["disk"]; len(x.NestedBlocks) != 2 {
				t.Errorf("terraform-json finds %d disk blocks in %s, want 2", len(x.NestedBlocks), plan.Config.RootModule.Resources[0].Address)
			}
		})
	}
}

// configurationAsRecorded compares what is written of a configuration with what was
// recorded, and returns it as terraform-json reads it.
func configurationAsRecorded(t *testing.T, path string) tfjson.Plan {
	t.Helper()
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range a.Files {
		files[f.Name] = f.Data
	}
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(files)})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	src, err := Plan(&plans.Plan{}, cfg, rendertest.Schemas(t))
	if err != nil {
		t.Fatal(err)
	}
	var want any
	var got struct{ Configuration any }
	rendertest.Decode(t, files["configuration.json"], &want)
	rendertest.Decode(t, src, &got)
	if d := cmp.Diff(want, got.Configuration); d != "" {
		t.Errorf("configuration (- recorded, + written):\n%s", d)
	}
	var plan tfjson.Plan
	if err := json.Unmarshal(src, &plan); err != nil {
		t.Fatalf("terraform-json cannot read it: %v", err)
	}
	return plan
}

func TestNoStateIsShortJSON(t *testing.T) {
	t.Parallel()
	src, err := State(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(src), `{"format_version":"1.0"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Terraform 1.11.4 leaves out the schema's version of what is deposed.
func TestVersionOfDeposed(t *testing.T) {
	t.Parallel()
	at := addrs.AbsResource{Resource: addrs.Resource{Mode: addrs.Managed, Type: "lab_thing", Name: "x"}}.Instance(addrs.NoKey)
	editor := states.Empty().Edit()
	for _, key := range []addrs.DeposedKey{addrs.NotDeposed, "0a1b2c3d"} {
		editor.SetObject(addrs.ResourceInstanceObject{Instance: at, Deposed: key}, addrs.AbsProviderConfig{Provider: addrs.DefaultProvider("lab")},
			&states.Object{SchemaVersion: 3, Status: states.Ready, AttrsJSON: []byte(`{"id":"1"}`)})
	}
	src, err := State(editor.State(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got tfjson.State
	if err := json.Unmarshal(src, &got); err != nil {
		t.Fatal(err)
	}
	for _, r := range got.Values.RootModule.Resources {
		if want := uint64(3); r.DeposedKey == "" && r.SchemaVersion != want || r.DeposedKey != "" && r.SchemaVersion != 0 {
			t.Errorf("%q has version %d", r.DeposedKey, r.SchemaVersion)
		}
	}
}

func TestAnEmptyPlanSaysWhatItIs(t *testing.T) {
	t.Parallel()
	src, err := Plan(&plans.Plan{Mode: plans.NormalMode, Complete: true}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"format_version":"1.2","terraform_version":"` + states.LanguageVersion + `","planned_values":{"root_module":{}},"applyable":false,"complete":true,"errored":false}`
	if string(src) != want {
		t.Errorf("got  %s\nwant %s", src, want)
	}
}

// Terraform 1.11.4 keeps what changes in a plan's file, which has no negative zero; a state
// has.
func TestNegativeZero(t *testing.T) {
	t.Parallel()
	zero := cty.NumberVal(new(big.Float).Neg(new(big.Float)))
	src, err := Plan(&plans.Plan{
		Mode:       plans.NormalMode,
		Outputs:    []*plans.OutputChange{{Name: "o", Change: plans.Change{Action: plans.NoOp, Before: zero, After: zero}}},
		PriorState: states.Empty().Edit().State(),
	}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(src), "-0") {
		t.Errorf("a negative zero in %s", src)
	}
	editor := states.Empty().Edit()
	editor.SetOutput("o", states.Output{Value: zero})
	if src, err = State(editor.State(), nil); err != nil || !strings.Contains(string(src), "-0") {
		t.Errorf("no negative zero in %s, %v", src, err)
	}
}

// An object of which nothing is known has no values among the planned ones, but an empty
// object in its change, as Terraform 1.11.4 has it.
func TestNothingKnown(t *testing.T) {
	t.Parallel()
	at := addrs.AbsResource{Resource: addrs.Resource{Mode: addrs.Managed, Type: "lab_thing", Name: "x"}}.Instance(addrs.NoKey)
	after := cty.ObjectVal(map[string]cty.Value{"id": cty.UnknownVal(cty.String)})
	src, err := Plan(&plans.Plan{Mode: plans.NormalMode, Changes: []*plans.ResourceChange{{
		Addr: addrs.ResourceInstanceObject{Instance: at}, PrevAddr: at,
		Change: plans.Change{Action: plans.Create, Before: cty.NullVal(after.Type()), After: after},
	}}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Planned struct {
			Root struct{ Resources []map[string]any } `json:"root_module"`
		} `json:"planned_values"`
		Changes []struct{ Change map[string]any } `json:"resource_changes"`
	}
	if err := json.Unmarshal(src, &got); err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	if _, ok := got.Planned.Root.Resources[0]["values"]; ok {
		t.Errorf("planned values %v", got.Planned.Root.Resources)
	}
	want := map[string]any{
		"actions": []any{"create"}, "before": nil, "after": map[string]any{}, "after_unknown": map[string]any{"id": true},
		"before_sensitive": false, "after_sensitive": map[string]any{},
	}
	if d := cmp.Diff(want, got.Changes[0].Change); d != "" {
		t.Errorf("change (-want +got)\n%s", d)
	}
}

// What is forgotten is among the planned values by its name only, and the prior state
// has no results of checks: those were of another configuration.
func TestForgottenAndChecked(t *testing.T) {
	t.Parallel()
	at := addrs.AbsResource{Resource: addrs.Resource{Mode: addrs.Managed, Type: "lab_thing", Name: "x"}}.Instance(addrs.NoKey)
	before := cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("1")})
	state := (&states.State{}).Edit()
	state.SetOutput("o", states.Output{Value: cty.True})
	state.SetChecks([]states.CheckResult{{Kind: "check", ConfigAddr: "check.c", Status: "pass"}})
	src, err := Plan(&plans.Plan{
		Mode: plans.NormalMode, PriorState: state.State(),
		Changes: []*plans.ResourceChange{{
			Addr: addrs.ResourceInstanceObject{Instance: at}, PrevAddr: at,
			Change: plans.Change{Action: plans.Forget, Before: before, After: cty.NullVal(before.Type())},
		}},
	}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Planned struct {
			Root struct{ Resources []map[string]any } `json:"root_module"`
		} `json:"planned_values"`
		Prior map[string]any `json:"prior_state"`
	}
	if err := json.Unmarshal(src, &got); err != nil {
		t.Fatal(err)
	}
	if list := got.Planned.Root.Resources; len(list) != 0 {
		t.Errorf("planned values %v", list)
	}
	if got.Prior == nil || got.Prior["checks"] != nil {
		t.Errorf("prior state %v", got.Prior)
	}
}
