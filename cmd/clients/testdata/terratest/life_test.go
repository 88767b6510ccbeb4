// Package terratest is a test of infrastructure as people write them with Terratest. It runs in
// the directory of a configuration, and writes what it learned to the file RESULT.
package terratest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/gruntwork-io/terratest/modules/terraform"
)

// results are what the tool told, by the step.
type results map[string]any

func TestLife(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	r := results{}
	options := terraform.WithDefaultRetryableErrors(t, &terraform.Options{
		TerraformDir: dir, NoColor: true, Lock: true, LockTimeout: "10s", Parallelism: 3,
		Vars:    map[string]any{"name": "a \"quoted\" name", "list": []string{"x", "y"}, "map": map[string]any{"n": 1, "on": true}},
		EnvVars: map[string]string{"TF_VAR_from_env": "env"},
	})
	r["plan exit code"] = terraform.InitAndPlanWithExitCode(t, options)
	r.plan(t, options)
	r["applied"] = terraform.GetResourceCount(t, terraform.InitAndApplyAndIdempotent(t, options))
	r.outputs(t, options)
	r["exit code of no changes"] = terraform.GetExitCodeForTerraformCommand(t, options, terraform.FormatArgs(options, "plan", "-detailed-exitcode")...)
	r.workspaces(t, options)
	r["warning"] = terraform.RunTerraformCommandAndGetStdout(t, options, "state", "list")
	r["destroyed"] = terraform.GetResourceCount(t, terraform.Destroy(t, options))
	r.wrong(t)

	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(os.Getenv("RESULT"), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// plan looks at a saved plan, in the ways that Terratest has.
func (r results) plan(t *testing.T, o *terraform.Options) {
	copied := *o
	copied.PlanFilePath = filepath.Join(t.TempDir(), "saved")
	plan := terraform.InitAndPlanAndShowWithStruct(t, &copied)
	terraform.RequirePlannedValuesMapKeyExists(t, plan, "lab_thing.a")
	terraform.RequireResourceChangesMapKeyExists(t, plan, "module.m.terraform_data.inner[0]")
	terraform.AssertPlannedValuesMapKeyExists(t, plan, "terraform_data.b[\"x\"]")
	r["planned"] = plan.ResourcePlannedValuesMap["lab_thing.a"].AttributeValues
	r["after unknown"] = plan.ResourceChangesMap["lab_thing.a"].Change.AfterUnknown
	r["variables"] = plan.RawPlan.Variables
	r["output changes"] = plan.RawPlan.OutputChanges
	r["counted"] = terraform.GetResourceCount(t, terraform.Plan(t, o))
}

func (r results) outputs(t *testing.T, o *terraform.Options) {
	r["string"] = terraform.Output(t, o, "string")
	r["list"] = terraform.OutputList(t, o, "list")
	r["map"] = terraform.OutputMap(t, o, "map")
	r["objects"] = terraform.OutputListOfObjects(t, o, "objects")
	r["object"] = terraform.OutputMapOfObjects(t, o, "object")
	r["all"] = terraform.OutputAll(t, o)
	r["some"] = terraform.OutputForKeys(t, o, []string{"string", "list"})
	r["secret"] = terraform.OutputJson(t, o, "secret")
	var s struct {
		A struct {
			N  int  `json:"n"`
			On bool `json:"on"`
		} `json:"a"`
	}
	terraform.OutputStruct(t, o, "object", &s)
	r["struct"] = s
	_, err := terraform.OutputE(t, o, "nope")
	r["no such output fails"] = err != nil
	r["shown"] = len(terraform.Show(t, o)) > 0
}

func (r results) workspaces(t *testing.T, o *terraform.Options) {
	r["new workspace"] = terraform.WorkspaceSelectOrNew(t, o, "dev")
	r["its state"] = terraform.RunTerraformCommandAndGetStdout(t, o, "output", "-json")
	r["back"] = terraform.WorkspaceSelectOrNew(t, o, "default")
	r["deleted"] = terraform.WorkspaceDelete(t, o, "dev")
}

// wrong are the failures that Terratest tells apart.
func (r results) wrong(t *testing.T) {
	bad := &terraform.Options{TerraformDir: filepath.Join(".", "wrong"), NoColor: true}
	terraform.Init(t, bad)
	_, err := terraform.ValidateE(t, bad)
	r["invalid fails"] = err != nil
	_, err = terraform.ApplyE(t, bad)
	r["apply fails"] = err != nil
	r["plan fails with"] = terraform.GetExitCodeForTerraformCommand(t, bad, "plan", "-input=false", "-detailed-exitcode")
	warned := &terraform.Options{TerraformDir: filepath.Join(".", "warned"), NoColor: true, WarningsAsErrors: map[string]string{".*Check block assertion failed.*": "checks hold"}}
	_, err = terraform.InitAndApplyE(t, warned)
	r["warnings fail"] = err != nil
}
