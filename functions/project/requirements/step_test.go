package requirements

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

func readSteps(t *testing.T, src string) ([]Requirement, hcl.Diagnostics) {
	t.Helper()
	f, ds := hclsyntax.ParseConfig([]byte(src), "lockstep.hcl", hcl.InitialPos)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	content, _, ds := f.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "step", LabelNames: []string{"name"}}}})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return ParseSteps(map[string]string{"tflint": strings.Repeat("ab", 32)})(content.Blocks)
}

// TestStepBlocks reads whole blocks.
func TestStepBlocks(t *testing.T) {
	t.Parallel()
	got, ds := readSteps(t, `
step "lint" {
  on      = "before_plan"
  program = ["tflint", "--format=sarif", "--config={files}/.tflint.hcl", "{dir}"]
}
step "scan" {
  on       = "after_plan"
  program  = ["tflint", "{plan_json}", "{workspace}", "{other"]
  projects = ["prod-*"]
  env      = { LEVEL = "high" }
  files    = ["./policies/"]
  network  = true
  role     = "plan"
  timeout  = "5m"
  required = false
}
step "freeze" {
  on      = "before_apply"
  program = ["tflint", "{plan_json}"]
  role    = "none"
}
step "synth" {
  on      = "generate"
  program = ["/usr/bin/node", "{checkout}/main.js"]
}
`)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	digest := strings.Repeat("ab", 32)
	want := []Requirement{
		{Command: "apply", At: "lockstep.hcl:2", Rules: Rules{Step: &Step{Name: "lint", On: BeforePlan, Program: []string{"tflint", "--format=sarif", "--config={files}/.tflint.hcl", "{dir}"}, Digest: digest, Timeout: 60, Required: true}}},
		{Command: "apply", At: "lockstep.hcl:6", Projects: []string{"prod-*"}, Rules: Rules{Step: &Step{
			Name: "scan", On: AfterPlan, Program: []string{"tflint", "{plan_json}", "{workspace}", "{other"}, Digest: digest, Env: map[string]string{"LEVEL": "high"}, Files: []string{"policies"}, Network: true, PlanRole: true, Timeout: 300,
		}}},
		{Command: "apply", At: "lockstep.hcl:17", Rules: Rules{Step: &Step{Name: "freeze", On: BeforeApply, Program: []string{"tflint", "{plan_json}"}, Digest: digest, Timeout: 60, Required: true}}},
		{Command: "apply", At: "lockstep.hcl:22", Rules: Rules{Step: &Step{Name: "synth", On: Generate, Program: []string{"/usr/bin/node", "{checkout}/main.js"}, Timeout: 60, Required: true}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for i, judges := range []bool{true, false, false, false} {
		if got[i].Step.Judges() != judges {
			t.Errorf("%s judges: %t", got[i].Step.Name, !judges)
		}
	}
}

// TestWrongSteps is the table of errors in step blocks.
func TestWrongSteps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, want string }{
		{``, "Invalid moment"},
		{`on = "plan"`, `A step runs on "generate"`},
		{`on = "before_plan"`, "needs the argument program"},
		{`on = "before_plan"
program = "tflint --format=sarif"`, "must be a list of texts"},
		{`on = "before_plan"
program = []`, "The list is empty"},
		{`on = "before_plan"
program = ["sh", "-c", "tflint | tee out"]`, "lockstep toolbox add sh FILE"},
		{`on = "before_plan"
program = ["/opt/../tmp/lint"]`, "is absolute, and has no"},
		{`on = "before_plan"
program = ["/{checkout}/lint"]`, "no placeholder"},
		{`on = "before_plan"
program = ["./lint"]`, "The argument tools has no tool"},
		{`on = "before_plan"
program = ["tflint", "{plan_json}"]`, `"{plan_json}" is not replaced here`},
		{`on = "after_plan"
program = ["tflint", "{comment}"]`, `"{comment}" is not replaced here. A step can use {dir}`},
		{`on = "before_plan"
program = ["tflint"]
env = { "A=B" = "c" }`, "cannot be the name of an environment variable"},
		{`on = "before_plan"
program = ["tflint"]
env = { LD_PRELOAD = "x.so" }`, "cannot be the name of an environment variable"},
		{`on = "before_plan"
program = ["tflint"]
env = ["A"]`, "must be at most 100 texts by names"},
		{`on = "before_plan"
program = ["tflint"]
env = { A = 1 }`, "must be at most 100 texts by names"},
		{`on = "before_plan"
program = ["tflint"]
files = ["../secret"]`, "is a path from the root of the repository"},
		{`on = "before_plan"
program = ["tflint"]
timeout = "1h"`, `from "1s" to "600s"`},
		{`on = "before_plan"
program = ["tflint"]
timeout = "1.5s"`, "in whole seconds"},
		{`on = "before_plan"
program = ["tflint"]
role = "apply"`, `The role of a step is "plan"`},
		{`on = "generate"
program = ["tflint"]
role = "plan"`, "no credentials"},
		{`on = "generate"
program = ["tflint"]
required = false`, "so the plan fails if the step fails"},
		{`on = "before_apply"
program = ["tflint"]
override = ["alice"]`, "People can override only"},
		{`on = "after_plan"
program = ["tflint"]
required = false
override = ["alice"]`, "People can override only"},
		{`on = "after_plan"
program = ["tflint"]
shell = true`, "Its arguments are on, program"},
	} {
		got, ds := readSteps(t, "step \"x\" {\n"+c.body+"\n}\n")
		if !ds.HasErrors() || !strings.Contains(ds.Error(), c.want) || len(got) != 0 {
			t.Errorf("%s: %v, %d blocks", c.body, ds, len(got))
		}
	}
}
